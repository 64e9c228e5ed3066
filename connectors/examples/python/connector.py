#!/usr/bin/env python3
"""Reads people from a JSON service that answers page by page: {"people": [{"id": 7, "login": "ann", ...}], "next": 2}.

Rollcall writes a JSON object to standard input: action, config, source, mode, checkpoint. The document goes to standard
output, the log to standard error, and any exit status but 0 discards the document.
"""

import json
import sys
import urllib.error
import urllib.parse
import urllib.request
from xml.sax.saxutils import escape, quoteattr


def read_page(config, page):
    url = config["url"] + "?" + urllib.parse.urlencode({"page": page})
    request = urllib.request.Request(url, headers={"Authorization": "Bearer " + config["token"]})
    try:
        with urllib.request.urlopen(request, timeout=60) as response:
            return json.load(response)
    except urllib.error.URLError as error:
        host = urllib.parse.urlsplit(url).netloc
        sys.exit(f"error: {host} does not answer as it should ({error}); check the address and the token.")


def user(person):
    names = {"firstname": person.get("first"), "surname": person.get("last"), "email": person.get("mail")}
    leaves = {"active": "false" if person.get("left") else "true", **names}
    written = "".join(f"<{name}>{escape(value)}</{name}>" for name, value in leaves.items() if value)
    who = f"id={quoteattr(str(person['id']))} username={quoteattr(person['login'])}"
    return f"<user {who}>{written}<additionalfields/></user>\n"


def write_document(config, source, mode):
    head = f"domain={quoteattr(source['name'])} ldapid={quoteattr(str(source['id']))}"
    option = f'<option name="mode">{mode}</option>'
    page, opening = 1, f'<syncdata version="1"><syncoptions {head}>{option}</syncoptions><users>\n'
    while page is not None:
        answer = read_page(config, page)
        for person in answer["people"]:
            sys.stdout.write(opening + user(person))
            opening = ""
        page = answer["next"]
    if opening == "":
        print("</users></syncdata>")


if __name__ == "__main__":
    asked = json.load(sys.stdin)
    if asked["action"] == "test":
        people = read_page(asked["config"], 1)["people"]
        print(f"The service answers; its first page has {len(people)} people.")
    else:
        write_document(asked["config"], asked["source"], asked["mode"])
