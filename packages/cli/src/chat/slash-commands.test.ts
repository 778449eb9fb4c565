import { expect, test } from "vitest"
import { helpLines } from "./panels.ts"
import { findCommand, SLASH_COMMANDS } from "./slash-commands.ts"

test("a command is found by its name, with the text after it", () => {
  expect(findCommand("/resume abc")).toMatchObject({ type: "command", command: { name: "resume" }, argument: "abc" })
  expect(findCommand("  /HELP ")).toMatchObject({ type: "command", command: { name: "help" }, argument: "" })
})

test("a misspelt one gets a suggestion", () => {
  expect(findCommand("/contxt")).toEqual({
    type: "unknown",
    message: "There is no command /contxt. Did you mean /context?",
  })
  expect(findCommand("/weather")).toEqual({
    type: "unknown",
    message: "There is no command /weather. /help lists the commands.",
  })
})

test("words that only begin with a slash are words", () => {
  expect(findCommand("/usr/bin/env is a path")).toBeUndefined()
  expect(findCommand("hello /help")).toBeUndefined()
})

test("the list of commands fits into 80 columns", () => {
  const lines = helpLines({ builtIn: SLASH_COMMANDS, own: [] }, { columns: 76 })
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(76)
  for (const { usage, about } of SLASH_COMMANDS)
    expect(
      lines.some((line) => line.startsWith(usage) && line.endsWith(about)),
      `${usage} in one line`,
    ).toBe(true)
})
