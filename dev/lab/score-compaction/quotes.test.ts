import { describe, expect, test } from "vitest"
import { plain } from "./find-in-text.ts"
import { isQuoted, userQuotesIn } from "./quotes.ts"

describe("quotes of the user in a summary", () => {
  test("the list of messages, from its title to the next one", () => {
    const summary = [
      "5. Problem Solving:",
      '   The error was "something else entirely".',
      "6. All User Messages:",
      '   - "got merge conflicts from parent"',
      '   - "or something descriptive?" (refused the empty string)',
      "   - Initial command",
      "",
      "7. Pending Tasks:",
      '   - "not a message of anyone"',
    ].join("\n")
    expect(userQuotesIn(summary)).toEqual({
      listed: ["got merge conflicts from parent", "or something descriptive?"],
      inline: [],
    })
  })

  test("our own record quotes in fences, and what is in a fence ends nothing", () => {
    const record = [
      "## What the user said",
      "The user's messages, word for word.",
      "Message 1:",
      "````",
      "please fix this:",
      "```",
      "## Files",
      "```",
      "````",
      "Message 2:",
      "```",
      "now the other one",
      "```",
      "",
      "## Files",
      '- "the user said nothing here"',
    ].join("\n")
    expect(userQuotesIn(record).listed).toEqual(["please fix this:\n```\n## Files\n```", "now the other one"])
  })

  test("elsewhere only on a line that names the user before", () => {
    const text =
      'The user said "fix it up, please" and "go". It failed with "exit status 1 of 2". “One of these, as agreed”'
    expect(userQuotesIn(text).inline).toEqual(["fix it up, please", "exit status 1 of 2", "One of these, as agreed"])
    expect(userQuotesIn('It printed "no such file or directory" to the user.').inline).toEqual([])
    expect(userQuotesIn('- "git config user.email \\"someone@example.org\\""').inline).toEqual([])
  })
})

test("a quotation may leave something out, and may not add anything", () => {
  const text = plain("so, testing this build: a long log. What's happened here? Never mind.").toLowerCase()
  expect(isQuoted("so, testing this build: [log output] what's happened here?", text)).toBe(true)
  expect(isQuoted("so, testing this build: ... Never mind", text)).toBe(true)
  expect(isQuoted("so, testing  this\nbuild", text)).toBe(true)
  expect(isQuoted("so, testing that build", text)).toBe(false)
  expect(isQuoted("so, testing this build: [log] ship it", text)).toBe(false)
})
