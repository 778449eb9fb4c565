import { expect, test } from "vitest"
import type { PermissionQuestion } from "../../tools/tool.ts"
import { commandFacts } from "../tools/shell/command/command-facts.ts"
import { offeredRules } from "./authorize-call.ts"
import { judge } from "./permissions.ts"

const PROJECT = "/work/project"
/** Offered rules for similar calls, and for exactly this call if there are both. */
const rules = (tool: string, question: Omit<PermissionQuestion, "summary">) => {
  const { rules: like, exactRules } = offeredRules({ tool, question: { summary: "", ...question } }, PROJECT)
  return exactRules ? [like, exactRules] : [like]
}
const bash = (subject: string) =>
  ({ kind: "execute", subject, command: commandFacts(subject, { directory: PROJECT, env: {} }) }) as const
const command = (subject: string) => rules("Bash", bash(subject))

test.each([
  ["npm test -- --watch", [["Bash(npm test:*)"], ["Bash(npm test -- --watch)"]]],
  ["tsc", [["Bash(tsc:*)"], ["Bash(tsc)"]]],
  ["rm -rf build", [["Bash(rm -rf build)"]]],
  ['git commit -m "it\'s done"', [["Bash(git commit:*)"], ['Bash(git commit -m "it\'s done")']]],
  ["npm test > out.log", [["Bash(npm test:*)", "Edit(./out.log)"], ["Bash(npm test > out.log)"]]],
])("PERM-5 a command is allowed with its sub-command, or as it is: %s", (line, expected) => {
  expect(command(line)).toEqual(expected)
})

test.each([
  "git commit -m x && npm run build",
  "cd packages && npm test",
  "npm test 2>&1 | tail -20",
  "a; b; c; d",
  "timeout 60 npm test",
  "python -c 'import os'",
  "PATH=. npm test",
  'bash -c "$X"',
  "$X y",
  "npm test > $FILE",
  'npm run "$SCRIPT"',
  "echo $(curl http://x)",
])(
  "PERM-5 several commands, or one that is not known before it runs, are allowed only as the same line: %s",
  (line) => {
    expect(command(line)).toEqual([[`Bash(${line})`]])
  },
)

test("PERM-5 a rule for a line allows that line, and nothing that only has the same words", () => {
  const judged = (allow: readonly string[], line: string) =>
    judge(
      { tool: "Bash", isReadOnly: false, question: { summary: "", ...bash(line) } },
      { mode: "ask", allow, ask: [], deny: [], project: PROJECT, protectedDirectories: [] },
    ).verdict
  const rule = ["Bash(rm -rf build; make all)"]
  expect(judged(rule, " rm -rf build; make all\n")).toBe("allow")
  const others = [
    "rm -rf 'build;' make all",
    "rm -rf build",
    "make all",
    "rm -rf build; make all; make install",
    "rm -rf build; make all x",
    "X=1 rm -rf build; make all",
    "rm -rf  build; make all",
    "(rm -rf build; make all) &",
  ]
  expect(others.filter((line) => judged(rule, line) === "allow")).toEqual([])
})

test("PERM-5 an edit is allowed in its directory or for its file, one outside the project only for its file", () => {
  const edit = (path: string) => rules("Edit", { kind: "write", paths: [path] })
  expect(edit(`${PROJECT}/a.ts`)).toEqual([["Edit(./**)"], ["Edit(./a.ts)"]])
  expect(edit(`${PROJECT}/src/deep/a.ts`)).toEqual([["Edit(src/deep/**)"], ["Edit(./src/deep/a.ts)"]])
  expect(edit(`${PROJECT}/~x/a.ts`)).toEqual([["Edit(./~x/**)"], ["Edit(./~x/a.ts)"]])
  expect(edit("/etc/hosts")).toEqual([["Edit(/etc/hosts)"]])
  expect(edit(`${PROJECT}/.git/config`)).toEqual([[]])
})

test("PERM-5 a file outside the project is read in its directory, unless that is a home, hidden, or around the project", () => {
  const read = (path: string) => rules("Read", { kind: "read", paths: [path] })
  expect(read("/home/ada/notes/a.md")).toEqual([["Read(/home/ada/notes/**)"], ["Read(/home/ada/notes/a.md)"]])
  for (const path of ["/home/ada/a.md", "/home/ada/.ssh/id", "/home/ada/.config/x/y/z", "/work/a", "/etc/passwd"])
    expect(read(path)).toEqual([[`Read(${path})`]])
})

test("PERM-5 a name that reads like a pattern is offered neither for itself nor with its directory", () => {
  for (const name of ["*/a.ts", "src/{a,b}/c.ts", "[id]/page.tsx", "a\u202eb/c.ts", "what (is)/this.ts", "**/a"])
    expect(rules("Edit", { kind: "write", paths: [`${PROJECT}/${name}`] })).toEqual([[]])
})

test("a page is allowed with its host", () => {
  expect(rules("WebFetch", { kind: "network", subject: "https://example.com/a" })).toEqual([
    ["WebFetch(domain:example.com)"],
  ])
})

test("PERM-5 no rule is offered that no one would read, that means more than it shows, or that asks again", () => {
  expect(command(`rm ${"x".repeat(200)}`)).toEqual([[]])
  expect(command("rm *.log && make")).toEqual([[]]) // a star in a rule matches any text
  expect(command("make a && echo \u0430")).toEqual([[]]) // a look-alike letter
  expect(command("npm test > ~/.bashrc")).toEqual([[]]) // files that run code later always need approval
})

test("the rules that are offered allow the very call they were offered for", () => {
  const questions: readonly (readonly [string, PermissionQuestion])[] = [
    ["Bash", { summary: "", ...bash("npm test && rm -rf build") }],
    ["Edit", { kind: "write", summary: "", paths: [`${PROJECT}/src/a.ts`] }],
    ["WebFetch", { kind: "network", summary: "", subject: "https://example.com/a" }],
    ["mcp__files__read", { kind: "other", summary: "" }],
  ]
  for (const [tool, question] of questions) {
    const { rules: like, exactRules = like } = offeredRules({ tool, question }, PROJECT)
    for (const allow of [like, exactRules]) {
      const policy = { mode: "ask", allow, ask: [], deny: [], project: PROJECT, protectedDirectories: [] } as const
      expect(judge({ tool, isReadOnly: false, question }, policy).verdict).toBe("allow")
    }
  }
})
