"""Whatever is sent, as described or not, the interface answers as described, and never breaks."""

import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from analysis.handmade import task_1_reader
from tpr_rnn.explorer.app import create_app
from tpr_rnn.explorer.service import Service

schema = schemathesis.openapi.from_asgi(
    "/api/openapi.json", create_app(Service(task_1_reader(), "handmade"))
)
KNOWN = ("Mary went to the kitchen.", "Where is Mary?", "John moved to the garden", "mary")


def _known(value: object) -> object:
    """Most made-up texts have no known word; half of them are made readable."""
    if isinstance(value, str) and len(value) % 2:
        return KNOWN[len(value) % len(KNOWN)]
    if isinstance(value, list):
        return [_known(inner) for inner in value]
    return (
        {key: _known(inner) for key, inner in value.items()} if isinstance(value, dict) else value
    )


@schema.parametrize()
@settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
def test_the_interface_holds(case) -> None:
    if isinstance(case.body, dict) and isinstance(case.body.get("operations"), list | None):
        case.body = _known({k: v for k, v in case.body.items() if k != "operations"}) | {
            key: value for key, value in case.body.items() if key == "operations"
        }
    case.call_and_validate(
        checks=[
            not_a_server_error,
            status_code_conformance,
            content_type_conformance,
            response_schema_conformance,
        ]
    )
