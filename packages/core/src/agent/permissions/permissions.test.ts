import { describe, expect, test } from "vitest"
import type { PermissionQuestion } from "../../tools/tool.ts"
import { commandShape } from "../tools/shell/command/command-facts.ts"
import { type Judgement, judge, type PermissionPolicy } from "./permissions.ts"

const policy = (change: Partial<PermissionPolicy> = {}): PermissionPolicy => ({
  mode: "ask",
  allow: [],
  ask: [],
  deny: [],
  project: "/work/project",
  protectedDirectories: ["/home/me/.strata"],
  ...change,
})

const read = (path: string): PermissionQuestion => ({ kind: "read", summary: `read ${path}`, paths: [path] })
const write = (path: string): PermissionQuestion => ({ kind: "write", summary: `write ${path}`, paths: [path] })
const execute = (command: string): PermissionQuestion => ({ kind: "execute", summary: command, subject: command })

type Call = { tool: string; question: PermissionQuestion; isReadOnly?: boolean }
const verdict = (
  { tool, question, isReadOnly = question.kind === "read" }: Call,
  change: Partial<PermissionPolicy> = {},
): Judgement["verdict"] => judge({ tool, isReadOnly, question }, policy(change)).verdict

describe("PERM-1 modes", () => {
  const edit = { tool: "Edit", question: write("/work/project/a.ts") }
  const bash = { tool: "Bash", question: execute("npm install") }
  const look = { tool: "Read", question: read("/work/project/a.ts") }

  test.each([
    ["ask", "allow", "ask", "ask"],
    ["accept-edits", "allow", "allow", "ask"],
    ["plan", "allow", "deny", "deny"],
    ["bypass", "allow", "allow", "allow"],
  ] as const)("%s: reading %s, editing %s, running %s", (mode, reading, editing, running) => {
    expect(verdict(look, { mode })).toBe(reading)
    expect(verdict(edit, { mode })).toBe(editing)
    expect(verdict(bash, { mode })).toBe(running)
  })

  test("a command that changes nothing runs in the project without a question, also in plan mode", () => {
    const list = { tool: "Bash", question: execute("ls -l"), isReadOnly: true }
    expect(verdict(list)).toBe("allow")
    expect(verdict(list, { mode: "plan" })).toBe("allow")
  })

  test("tokens of servers are asked for, also where the project is the home directory", () => {
    const token = "/home/me/.strata/sign-ins/a.json"
    expect(verdict({ tool: "Read", question: read(token) }, { project: "/home/me" })).toBe("ask")
    const shown = { tool: "Bash", question: execute(`cat ${token}`), isReadOnly: true }
    expect(verdict(shown, { project: "/home/me" })).toBe("ask")
  })

  test("outside the project reading is asked for, and accepted edits end at its border", () => {
    expect(verdict({ tool: "Read", question: read("/etc/passwd") })).toBe("ask")
    expect(verdict({ tool: "Write", question: write("/work/project-two/a.ts") }, { mode: "accept-edits" })).toBe("ask")
  })

  test.each([
    [".git/config"],
    ["packages/a/.git"],
    [".GIT/hooks/pre-commit"],
    [".strata/settings.local.json"],
    [".vscode/tasks.json"],
    ["sub/HEAD"],
    [".envrc"],
    [".claude.json"],
  ])("an accepted edit of %s is asked about: it decides which programs run", (path) => {
    const edit = { tool: "Write", question: write(`/work/project/${path}`) }
    expect(verdict(edit, { mode: "accept-edits" })).toBe("ask")
    expect(verdict(edit, { mode: "accept-edits", allow: ["Write"] })).toBe("allow")
  })

  test("accepted edits: names above the project do not count, and a write must name its files", () => {
    const project = "/home/me/.claude/worktrees/x"
    const edit = { tool: "Edit", question: write(`${project}/HEADER.md`) }
    expect(verdict(edit, { mode: "accept-edits", project })).toBe("allow")
    expect(verdict({ tool: "Save", question: { kind: "write", summary: "save" } }, { mode: "accept-edits" })).toBe(
      "ask",
    )
  })

  test("a question to the person needs no permission, also in plan mode", () => {
    expect(verdict({ tool: "AskUser", question: { kind: "ask", summary: "which one?" } }, { mode: "plan" })).toBe(
      "allow",
    )
  })
})

test("PERM-1 a tool may ask for approval of every call, or for none; rules and plan mode come first", () => {
  const weather = { tool: "weather", question: { kind: "other", summary: "" } as const }
  const by = (needsApproval: boolean, isReadOnly: boolean, change: Partial<PermissionPolicy> = {}) =>
    judge({ ...weather, isReadOnly, needsApproval }, policy(change)).verdict
  expect(by(true, true)).toBe("ask")
  expect(by(true, true, { allow: ["weather"] })).toBe("allow")
  expect(by(true, false, { mode: "bypass" })).toBe("allow")
  expect(by(false, false)).toBe("allow")
  expect(by(false, false, { ask: ["weather"] })).toBe("ask")
  expect(by(false, false, { deny: ["weather"] })).toBe("deny")
  expect(by(false, false, { mode: "plan" })).toBe("deny")
})

describe("PERM-1 rules", () => {
  test("deny wins over allow and over bypass", () => {
    const rules = { allow: ["Edit"], deny: ["Edit(/work/project/secret/**)"] }
    expect(verdict({ tool: "Edit", question: write("/work/project/a.ts") }, rules)).toBe("allow")
    expect(verdict({ tool: "Edit", question: write("/work/project/secret/key.pem") }, rules)).toBe("deny")
    expect(
      verdict({ tool: "Edit", question: write("/work/project/secret/key.pem") }, { ...rules, mode: "bypass" }),
    ).toBe("deny")
  })

  test("ask wins over allow", () => {
    expect(
      verdict({ tool: "Bash", question: execute("git push") }, { allow: ["Bash"], ask: ["Bash(git push:*)"] }),
    ).toBe("ask")
  })

  test.each([
    ["npm test", "allow"],
    ["npm test -- --watch", "allow"],
    ["npm testing", "ask"],
    ["npm test && rm -rf /", "ask"],
    ["npm test; npm test a", "allow"],
    ["npm test $(rm -rf /)", "ask"],
    ["npm test `rm x`", "ask"],
    ["echo x | npm test", "allow"],
    ["npm test 2>&1 | tail -5", "allow"],
    ["npm test > /dev/null", "allow"],
    ["npm test > out.log", "ask"],
    ["npm test > ~/.bashrc", "ask"],
    ["PATH=/tmp npm test", "ask"],
    ["CI=1 npm test", "allow"],
    ["/tmp/npm test", "ask"],
  ] as const)("a rule for `npm test` says to `%s`: %s", (command, expected) => {
    expect(verdict({ tool: "Bash", question: execute(command) }, { allow: ["Bash(npm test:*)"] })).toBe(expected)
  })

  test("to deny, one command in a line is enough", () => {
    expect(
      verdict({ tool: "Bash", question: execute("ls && rm -rf x") }, { mode: "bypass", deny: ["Bash(rm:*)"] }),
    ).toBe("deny")
  })

  test("a rule can name all tools of an MCP server, or one host", () => {
    const call = { tool: "mcp__db__drop", question: { kind: "other", summary: "drop" } as PermissionQuestion }
    expect(verdict(call, { allow: ["mcp__db"] })).toBe("allow")
    expect(verdict(call, { allow: ["mcp__db__*"] })).toBe("allow")
    expect(verdict(call, { allow: ["mcp__d"] })).toBe("ask")
    const fetch = (url: string) => ({
      tool: "WebFetch",
      question: { kind: "network", summary: url, subject: url } as PermissionQuestion,
    })
    expect(verdict(fetch("https://example.com/a"), { allow: ["WebFetch(domain:example.com)"] })).toBe("allow")
    expect(verdict(fetch("https://example.com.evil.net/a"), { allow: ["WebFetch(domain:example.com)"] })).toBe("ask")
  })
})

describe("PERM-2 what the system keeps", () => {
  test("journals, locks and memories cannot be written by any tool, whatever the mode and rules", () => {
    for (const path of ["/home/me/.strata/projects/p/c.jsonl", "/home/me/.strata"]) {
      expect(verdict({ tool: "Write", question: write(path) }, { mode: "bypass", allow: ["*"] })).toBe("deny")
    }
    expect(verdict({ tool: "Read", question: read("/home/me/.strata/settings.json") })).toBe("ask")
  })

  test("results that were put aside can be read without a question, and only read", () => {
    const readable = ["/home/me/.strata/projects/p/tool-results"]
    expect(verdict({ tool: "Read", question: read(`${readable[0]}/c/toolu_1.txt`) }, { readable })).toBe("allow")
    expect(
      verdict({ tool: "Write", question: write(`${readable[0]}/c/toolu_1.txt`) }, { readable, mode: "bypass" }),
    ).toBe("deny")
  })
})

test("a command line is taken apart where it runs several commands", () => {
  const { commands } = commandShape("a b && c || d; e | f & g\nh")
  expect(commands.map(({ words }) => words.join(" "))).toEqual(["a b", "c", "d", "e", "f", "g", "h"])
})
