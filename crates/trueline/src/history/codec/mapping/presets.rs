//! The mappings of formats that many tools write.

use serde_json::{Value as Json, json};

/// The names of the presets, each with a description.
pub(super) const PRESETS: [(&str, &str); 5] = [
    ("csv", "comma- or tab-separated values whose columns have trueline's names"),
    ("parquet", "Parquet files whose columns have trueline's names"),
    ("arrow", "Arrow files and streams whose columns have trueline's names"),
    ("otlp", "OpenTelemetry spans, in JSON"),
    ("jaeger", "Jaeger spans, in JSON"),
];

/// Returns the description of the preset with this name, in the form of a mapping.
pub(super) fn description(name: &str) -> Option<Json> {
    let attribute = |list: &str, name: &str| json!(format!("{list}[key={name}].value"));
    match name {
        "csv" => Some(json!({"format": "csv", "same_names": true})),
        "parquet" => Some(json!({"format": "parquet", "same_names": true})),
        "arrow" => Some(json!({"format": "arrow", "same_names": true})),
        // https://github.com/open-telemetry/opentelemetry-proto: ExportTraceServiceRequest in JSON.
        "otlp" => Some(json!({
            "records": "resourceSpans[].scopeSpans[].spans[]",
            "values": "otlp",
            "f": {"first": [attribute("attributes", "f"), "name"]},
            "key": attribute("attributes", "key"),
            "value": attribute("attributes", "value"),
            "result": attribute("attributes", "result"),
            "object": attribute("attributes", "object"),
            "call": "startTimeUnixNano",
            "return": "endTimeUnixNano",
            "rules": [
                {"when": "attributes[key=process].value", "process": attribute("attributes", "process")},
                {"when": "status.code in [2, \"STATUS_CODE_ERROR\"]", "outcome": "info"},
                {"when": "endTimeUnixNano in [0, \"0\", null]", "outcome": "info"},
            ],
        })),
        // The response of Jaeger's query service to /api/traces. A file that is downloaded from
        // Jaeger's user interface has the same content.
        "jaeger" => Some(json!({
            "records": "data[].spans[]",
            "f": {"first": [attribute("tags", "f"), "operationName"]},
            "key": attribute("tags", "key"),
            "value": attribute("tags", "value"),
            "result": attribute("tags", "result"),
            "object": attribute("tags", "object"),
            "call": {"from": "startTime", "unit": "us"},
            "return": {"from": "startTime", "plus": "duration", "unit": "us"},
            "rules": [
                {"when": "tags[key=process].value", "process": attribute("tags", "process")},
                {"when": "tags[key=error].value or tags[key=otel.status_code].value == \"ERROR\"", "outcome": "info"},
            ],
        })),
        _ => None,
    }
}
