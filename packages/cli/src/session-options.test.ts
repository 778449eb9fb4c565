import { describe, expect, test } from "vitest"
import { UsageError } from "./command.ts"
import { connectionFrom } from "./connection.ts"
import { readCommandLine, SESSION_OPTIONS } from "./session-options.ts"
import { nearestTo } from "./suggestion.ts"

const description = {
  name: "run",
  about: "",
  operands: { value: '"TASK"', min: 0, max: 1 },
  options: { ...SESSION_OPTIONS, json: { kind: "flag", about: "" } },
  examples: [],
} as const
const read = (args: readonly string[], env = {}) => readCommandLine({ description, args, env, cwd: "/work" })

test("the model comes from the option, the environment, or is the default", () => {
  expect(read(["--model", "a"], { STRATA_MODEL: "b" }).options).toMatchObject({ model: "a", isModelGiven: true })
  expect(read([], { STRATA_MODEL: "b" }).options).toMatchObject({ model: "b", isModelGiven: true })
  expect(read([]).options).toMatchObject({ model: "claude-opus-5-5", isModelGiven: false, cwd: "/work" })
})

test("--resume takes an id or none", () => {
  expect(read(["--resume"]).options.start).toEqual({ from: "list" })
  expect(read(["--resume", "abc-1"]).options.start).toEqual({ from: "id", id: "abc-1" })
  expect(read(["--resume", "--json"])).toMatchObject({
    options: { start: { from: "list" } },
    values: { json: true },
  })
  const withTask = read(["--resume", "go on with it"])
  expect(withTask.options.start).toEqual({ from: "list" })
  expect(withTask.operands).toEqual(["go on with it"])
  expect(read(["--continue"]).options.start).toEqual({ from: "newest" })
})

test("rules may be given several times", () => {
  expect(read(["--allow", "Edit", "--allow", "Bash(npm test:*)"]).options.allow).toEqual(["Edit", "Bash(npm test:*)"])
})

test.each([
  [["--modell", "x"], "strata run has no option --modell. Did you mean --model?"],
  [["--nothing-like-it"], 'strata run has no option --nothing-like-it. "strata run --help" lists the options.'],
  [["--model"], "--model needs a value: --model NAME."],
  [["--max-turns", "-3"], '--max-turns must be a whole number of 1 or more, not "-3".'],
  [["--json=yes"], '--json takes no value, but got "yes".'],
  [["--mode", "yolo"], '--mode must be one of ask, accept-edits, plan, bypass, not "yolo".'],
  [["--max-turns", "1.5"], '--max-turns must be a whole number of 1 or more, not "1.5".'],
  [["--cost-limit", "0"], '--cost-limit must be a number of dollars above 0, not "0".'],
  [["--continue", "--resume", "abc"], "Use either --continue or --resume, not both."],
])("%j is answered with a sentence", (args, sentence) => {
  expect(() => read(args)).toThrow(new UsageError(sentence))
})

test("a suggestion is a word that begins like it or differs in a letter or two", () => {
  expect(nearestTo("con", ["cost", "context"])).toBe("context")
  expect(nearestTo("cots", ["cost", "context"])).toBe("cost")
  expect(nearestTo("weather", ["cost", "context"])).toBeUndefined()
})

describe("the connection to the model", () => {
  test("needs a key, unless the server is on this machine", () => {
    expect(connectionFrom({})).toBeUndefined()
    expect(connectionFrom({ ANTHROPIC_BASE_URL: "https://example.com" })).toBeUndefined()
    expect(connectionFrom({ ANTHROPIC_BASE_URL: "http://127.0.0.1.example.com" })).toBeUndefined()
    for (const url of ["http://127.0.0.1:4010", "http://localhost:4010", "http://[::1]:4010"]) {
      expect(connectionFrom({ ANTHROPIC_BASE_URL: url })).toBeDefined()
    }
    expect(connectionFrom({ ANTHROPIC_API_KEY: "key" })).toBeDefined()
  })

  test("a wrong address is reported before anything is sent to it", () => {
    for (const url of ["nonsense", "localhost:4010", "http://"])
      expect(() => connectionFrom({ ANTHROPIC_API_KEY: "key", ANTHROPIC_BASE_URL: url })).toThrow(
        `ANTHROPIC_BASE_URL is "${url}"`,
      )
  })
})
