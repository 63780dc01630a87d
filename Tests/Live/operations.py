"""The operations of openapi.yaml as calls, with parameters filled in and a body that the schema allows."""
import urllib.parse

from server import Server

METHODS = ("get", "put", "post", "delete", "patch")
DOCUMENT = Server.contract.document


def resolve(node):
    return Server.contract.resolve(node)


class Operation:
    """One operation: its `name`, `method` and `template`, its parameters and its body's schema."""

    def __init__(self, method, template, item):
        own = item[method]
        self.name, self.method, self.template = own["operationId"], method.upper(), template
        self.security = own.get("security", DOCUMENT["security"])
        self.parameters = [
            resolve(node) for node in item.get("parameters", []) + own.get("parameters", [])]
        content = resolve(own.get("requestBody", {})).get("content", {})
        # A body of JSON lines has no such schema.
        self.schema = content["application/json"]["schema"] if "application/json" in content else None

    def __repr__(self):
        return self.name

    @property
    def needs_credentials(self):
        return {} not in self.security

    def names(self, location):
        return [node["name"] for node in self.parameters if node["in"] == location]

    def path(self, values, query=None):
        """The path with its parameters replaced by name; parameters without a value get `x`."""
        path = self.template
        for name in self.names("path"):
            value = urllib.parse.quote(values.get(name, "x"), safe="")
            path = path.replace("{" + name + "}", value)
        return path + ("?" + urllib.parse.urlencode(query) if query else "")

    def body(self, text="x"):
        """A body that matches the schema, with `text` for every string. None where the operation takes no body."""
        return None if self.schema is None else sample(self.schema, text)


def sample(schema, text):
    """A value that matches a schema, with every named member and `text` for every string."""
    schema = resolve(schema)
    kind = schema.get("type", "object" if "properties" in schema else "string")
    kind = kind[0] if isinstance(kind, list) else kind
    if "enum" in schema:
        return schema["enum"][0]
    if kind == "object":
        named = {name: sample(node, text) for name, node in schema.get("properties", {}).items()}
        return named or {text: text}
    if kind == "array":
        return [sample(schema.get("items", {}), text)]
    return {"string": text, "integer": 1, "number": 1, "boolean": True, "null": None}[kind]


OPERATIONS = [
    Operation(method, template, item)
    for template, item in DOCUMENT["paths"].items() for method in METHODS if method in item]
