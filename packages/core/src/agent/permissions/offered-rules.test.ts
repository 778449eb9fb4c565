import { expect, test } from "vitest"
import { commandFacts } from "../../tools/shell/command/command-facts.ts"
import type { PermissionQuestion } from "../../tools/tool.ts"
import { offeredRules } from "./offered-rules.ts"
import { judge } from "./permissions.ts"

const PROJECT = "/work/project"
const rules = (tool: string, question: Omit<PermissionQuestion, "summary">) =>
  offeredRules({ tool, question: { summary: "", ...question } }, PROJECT)
const bash = (subject: string) =>
  ({ kind: "execute", subject, command: commandFacts(subject, { directory: PROJECT, env: {} }) }) as const
const command = (subject: string) => rules("Bash", bash(subject))

test.each([
  ["npm test -- --watch", ["Bash(npm test:*)"]],
  ["git commit -m x && npm run build", ["Bash(git commit:*)", "Bash(npm run build:*)"]],
  ["rm -rf build", ["Bash(rm -rf build)"]],
  ["echo $(cat secret)", []],
])("a command is allowed with its sub-command, else as it is: %s", (line, expected) => {
  expect(command(line)).toEqual(expected)
})

test("an edit in the project is allowed in its directory, one outside only for that file", () => {
  expect(rules("Edit", { kind: "write", paths: [`${PROJECT}/a.ts`] })).toEqual(["Edit(./a.ts)"])
  expect(rules("Edit", { kind: "write", paths: [`${PROJECT}/src/deep/a.ts`] })).toEqual(["Edit(src/**)"])
  expect(rules("Edit", { kind: "write", paths: ["/etc/hosts"] })).toEqual(["Edit(/etc/hosts)"])
})

test("a page is allowed with its host", () => {
  expect(rules("WebFetch", { kind: "network", subject: "https://example.com/a" })).toEqual([
    "WebFetch(domain:example.com)",
  ])
})

test("PERM-5 no rule is offered that a person would not write", () => {
  expect(command(`rm ${"x".repeat(200)}`)).toEqual([])
  expect(command("a && b && c && d")).toEqual([])
  expect(command("npm test > $FILE")).toEqual([]) // it would ask again all the same
  expect(command("npm test > ~/.bashrc")).toEqual([]) // a file that runs code later always asks
})

test("the rules that are offered allow the very call they were offered for", () => {
  const questions: readonly (readonly [string, PermissionQuestion])[] = [
    ["Bash", { summary: "", ...bash("npm test && rm -rf build") }],
    ["Edit", { kind: "write", summary: "", paths: [`${PROJECT}/src/a.ts`] }],
    ["WebFetch", { kind: "network", summary: "", subject: "https://example.com/a" }],
    ["mcp__files__read", { kind: "other", summary: "" }],
  ]
  for (const [tool, question] of questions) {
    const allow = offeredRules({ tool, question }, PROJECT)
    const policy = { mode: "ask", allow, ask: [], deny: [], project: PROJECT, kept: [] } as const
    expect(judge({ tool, isReadOnly: false, question }, policy).verdict).toBe("allow")
  }
})
