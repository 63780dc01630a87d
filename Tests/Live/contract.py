"""Checks responses against openapi.yaml: the operation documents the status, and the body matches its schema."""
import functools
import re

import jsonschema_rs
import yaml


class Contract:
    def __init__(self, path):
        self.document = yaml.load(path.read_text(), yaml.CSafeLoader)
        self.seen = set()
        self.templates = [
            (re.compile("^" + re.sub(r"\{[^}]+\}", "[^/]+", template) + "/?$"), template)
            for template in self.document["paths"]
        ]

    def operations(self):
        methods = {"get", "put", "post", "delete", "patch"}
        return {
            (method.upper(), template)
            for template, item in self.document["paths"].items()
            for method in item if method in methods
        }

    def template(self, path):
        path = path.split("?")[0]
        exact = [template for pattern, template in self.templates if template == path]
        found = exact or [template for pattern, template in self.templates if pattern.match(path)]
        return found[0] if found else None

    def check(self, method, path, answer):
        template = self.template(path)
        operation = self.document["paths"].get(template, {}).get(method.lower())
        if operation is None:
            assert answer.status_code in (400, 404, 405, 414), (method, path, answer.status_code)
            return
        self.seen.add((method, template))
        response = operation["responses"].get(str(answer.status_code))
        assert response, f"{method} {template} answers {answer.status_code}: {answer.text}"
        response = self.resolve(response)
        content = response.get("content")
        if not content:
            assert not answer.content, (method, path, answer.content)
            return
        kind = answer.headers["Content-Type"].split(";")[0]
        # It stands for the bytes of an attachment, whose type is its own.
        if "application/octet-stream" in content:
            return
        assert kind in content, (method, path, kind)
        # ndjson has one JSON text per line, so the whole body is not one JSON text.
        if kind.endswith("json") and not kind.endswith("ndjson"):
            self.validator(method.lower(), template, str(answer.status_code), kind).validate(answer.json())

    @functools.cache
    def validator(self, method, template, status, kind):
        """The validator of an answer, made once: to resolve references costs most of a validation."""
        response = self.resolve(self.document["paths"][template][method]["responses"][status])
        return jsonschema_rs.Draft202012Validator(self.expand(response["content"][kind].get("schema", True)))

    def expand(self, node):
        """The schema with what its references name in their place. No schema of the contract contains itself."""
        if isinstance(node, list):
            return [self.expand(each) for each in node]
        if not isinstance(node, dict):
            return node
        found = {name: self.expand(each) for name, each in node.items()}
        if not isinstance(found.get("$ref"), str):
            return found
        named = self.expand(self.resolve({"$ref": found.pop("$ref")}))
        return {"allOf": [named, found]} if found else named

    def resolve(self, node):
        while "$ref" in node:
            target = self.document
            for part in node["$ref"][2:].split("/"):
                target = target[part]
            node = target
        return node
