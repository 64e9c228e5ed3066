"""Runs with: python3 test_connector.py"""

import unittest
import xml.etree.ElementTree as ElementTree

import connector


class Connector(unittest.TestCase):
    def test_writes_a_user_of_a_person(self):
        written = connector.user({"id": 7, "login": "ann", "first": "Ann & Bo", "left": True})
        user = ElementTree.fromstring(written)
        self.assertEqual(user.attrib, {"id": "7", "username": "ann"})
        self.assertEqual(user.findtext("firstname"), "Ann & Bo")
        self.assertEqual(user.findtext("active"), "false")
        self.assertIsNone(user.find("email"))


if __name__ == "__main__":
    unittest.main()
