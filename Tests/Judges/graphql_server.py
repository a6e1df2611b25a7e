"""A GraphQL server made of a schema, over standard input and output: one JSON object a line.

Usage: graphql_server.py SCHEMA [FIELD...]: the FIELDs are taken out of the schema, as an older one
lacks them. Each line in: {"query", "variables", "data"}; `data` is what the resolvers give. Each
line out: {"data", "errors"}, as graphql-core validates and executes it.
"""

import json
import re
import sys

from graphql import build_ast_schema, graphql, parse
from graphql.language import ast


class Everything:
    """A scalar of the provider's own: text in, any JSON out."""

    @staticmethod
    def serialize(value):
        return value

    @staticmethod
    def literal(node):
        if not isinstance(node, ast.StringValue):
            return None
        return node.value


def main():
    text = open(sys.argv[1], encoding="utf-8").read()
    for field in sys.argv[2:]:
        text = re.sub(r"\b%s(\([^)]*\))?: \S+\s" % re.escape(field), "", text)
    text += "\nschema { query: Query mutation: Mutation }\n"
    schema = build_ast_schema(parse(text))
    for name in ("AWSJSON", "AWSDateTime", "AWSDate"):
        scalar = schema.get_type(name)
        if scalar is not None:
            scalar.serialize = Everything.serialize
            scalar.parse_value = Everything.serialize
            scalar.parse_literal = Everything.literal
    for line in sys.stdin:
        request = json.loads(line)
        result = graphql(
            schema,
            request["query"],
            root=request.get("data") or {},
            variables=request.get("variables") or {},
        )
        answer = {"data": result.data}
        if result.errors:
            answer["errors"] = [{"message": str(error)} for error in result.errors]
        print(json.dumps(answer), flush=True)


main()
