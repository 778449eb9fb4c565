import { judge, type PermissionQuestion } from "@strata/core/internal"
import { expect, test } from "vitest"
import { rulesFor } from "./permission-rules.ts"

const PROJECT = "/work/project"
const rules = (tool: string, question: Omit<PermissionQuestion, "summary">) =>
  rulesFor({ id: "1", tool, why: "", question: { summary: "", ...question } }, PROJECT)
const command = (subject: string) => rules("Bash", { kind: "execute", subject })

test.each([
  ["npm test -- --watch", ["Bash(npm test:*)"]],
  ["git commit -m x && npm run build", ["Bash(git commit:*)", "Bash(npm run:*)"]],
  ["rm -rf build", ["Bash(rm -rf build)"]],
  ["echo $(cat secret)", []],
])("a command is allowed with its sub-command, else as it is: %s", (line, expected) => {
  expect(command(line)).toEqual(expected)
})

test("an edit in the project is allowed there, one outside only for that file", () => {
  expect(rules("Edit", { kind: "write", paths: [`${PROJECT}/a.ts`] })).toEqual([`Edit(${PROJECT}/**)`])
  expect(rules("Edit", { kind: "write", paths: ["/etc/hosts"] })).toEqual(["Edit(/etc/hosts)"])
})

test("a page is allowed with its host", () => {
  expect(rules("WebFetch", { kind: "network", subject: "https://example.com/a" })).toEqual([
    "WebFetch(domain:example.com)",
  ])
})

test("the rules that are offered allow the very call they were offered for", () => {
  const questions: readonly (readonly [string, PermissionQuestion])[] = [
    ["Bash", { kind: "execute", summary: "", subject: "npm test && rm -rf build" }],
    ["Edit", { kind: "write", summary: "", paths: [`${PROJECT}/src/a.ts`] }],
    ["WebFetch", { kind: "network", summary: "", subject: "https://example.com/a" }],
    ["mcp__files__read", { kind: "other", summary: "" }],
  ]
  for (const [tool, question] of questions) {
    const allow = rulesFor({ id: "1", tool, why: "", question }, PROJECT)
    const policy = { mode: "ask", allow, ask: [], deny: [], project: PROJECT, kept: [] } as const
    expect(judge({ tool, isReadOnly: false, question }, policy).verdict).toBe("allow")
  }
})
