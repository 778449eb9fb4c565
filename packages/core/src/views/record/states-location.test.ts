import { expect, test } from "vitest"
import { statesLocation } from "./states-location.ts"

test.each([
  "The runbook is at https://wiki.test/runbook.",
  "Team calendar: https://cal.test/team",
  "You can find the rules under https://wiki.test/rules.",
  "Das Handbuch liegt unter https://wiki.test/handbuch.",
])("L5-2 a place: %s", (text) => expect(statesLocation(text)).toBe(true))

test.each([
  'const BASE = "https://api.test/v2"',
  "curl -s https://api.test/v2",
  "npm ERR! 404 Not Found - GET https://registry.test/left-pads",
  "The server is at http://localhost:8080/admin.",
  "I found this on https://forum.test/t/99.",
  "The request fails at https://api.test/v2.",
  "Is the runbook at https://wiki.test/runbook?",
  "Please read https://wiki.test/runbook.",
  "See https://wiki.test/a and https://wiki.test/b.",
])("L5-4 no place to keep: %s", (text) => expect(statesLocation(text)).toBe(false))
