import type { PermissionQuestion } from "@strata/core/agent"
import { expect, test } from "vitest"
import { permissionDialog } from "./permission-dialog.ts"
import { terminalUser } from "./terminal-user.ts"

const PROJECT = "/work/project"
const dialog = (tool: string, question: Omit<PermissionQuestion, "summary">, rules: readonly string[] = []) =>
  permissionDialog({
    request: { id: "call", tool, why: "it needs permission", question: { summary: "cut…", ...question }, rules },
    project: PROJECT,
  })
const notes = (shown: ReturnType<typeof dialog>) => shown.notes?.map(({ text }) => text)

test("PERM-5 a command is shown whole and once, with its unusual parts marked and explained", () => {
  const line = `npm test ${"x".repeat(500)} > out`
  const unusual = [{ kind: "redirection", start: line.length - 5, end: line.length }] as const
  const command = {
    line,
    commands: [],
    redirections: { reads: [], writes: [] },
    unknown: [],
    unusual,
    isReadOnly: false,
    isExact: false,
    isConfined: false,
  }
  const shown = dialog("Bash", { kind: "execute", subject: line, command, preview: `Runs the tests\n\n${line}` }, [
    "Bash(npm test:*)",
  ])
  expect(shown).toMatchObject({ title: "Run this command?", call: "call", body: { text: line, highlights: unusual } })
  expect(notes(shown)).toEqual(["The model describes it as: Runs the tests", "! redirection: reads or writes a file"])
  expect(shown.options[1]?.about).toBe('Bash(npm test:*) allows every command that starts with "npm test".')
  expect(JSON.stringify(shown).split("xxxxx").length).toBe(dialogOnce(line))
})

test("PERM-5 the reason for the question is not repeated among the notes", () => {
  const line = "timeout 5 npm test"
  const command = {
    ...{ line, commands: [], redirections: { reads: [], writes: [] }, unusual: [] },
    unknown: ["npm runs code that can do anything.", "timeout starts npm."],
    ...{ isReadOnly: false, isExact: true, isConfined: false },
  }
  const question = { kind: "execute", summary: line, subject: line, preview: line, command } as const
  const shown = (why: string) =>
    notes(permissionDialog({ request: { id: "call", tool: "Bash", why, question }, project: PROJECT }))
  expect(shown("npm runs code that can do anything")).toEqual(["! timeout starts npm."])
  expect(shown('the rule "Bash(rm:*)" may forbid it: npm runs code that can do anything')).toEqual([
    "! timeout starts npm.",
  ])
  expect(shown("a hook asks")).toEqual(["! npm runs code that can do anything.", "! timeout starts npm."])
})

const dialogOnce = (line: string) => JSON.stringify(line).split("xxxxx").length

test("PERM-5 an edit names its file, and says so if that is outside the project", () => {
  const inside = dialog("Edit", { kind: "write", paths: [`${PROJECT}/a.ts`], preview: "-a\n+b" })
  expect(inside).toMatchObject({ body: { form: "diff", text: "-a\n+b" } })
  expect(notes(inside)).toEqual([`File: ${PROJECT}/a.ts`])
  expect(notes(dialog("Edit", { kind: "write", paths: ["/etc/hosts"] }))).toEqual([
    "! File: /etc/hosts (outside the project)",
  ])
})

test("PERM-5 an address is shown whole, with its host as it is resolved", () => {
  const shown = dialog("WebFetch", { kind: "network", subject: "https://\u0430pple.com/a?b=c" })
  expect(shown.body?.text).toBe("https://\u0430pple.com/a?b=c")
  expect(notes(shown)).toEqual([
    "Host: xn--pple-43d.com",
    "! The address spells its host in another way",
    "! The host has letters of other scripts, which can look like those of another host",
  ])
  expect(notes(dialog("WebFetch", { kind: "network", subject: "https://example.com/a" }))).toEqual([
    "Host: example.com",
  ])
})

test("PERM-5 other tools show their whole input", () => {
  const preview = JSON.stringify({ query: "x".repeat(1000) }, undefined, 2)
  expect(dialog("mcp__db__query", { kind: "other", preview }, ["mcp__db__query"])).toMatchObject({
    title: "Call mcp__db__query?",
    body: { text: preview },
    options: [{}, { about: "mcp__db__query allows every call of mcp__db__query, with any input." }, {}],
  })
})

test("PERM-5 don't ask again offers calls like this one, or exactly this one, and adds the rules that it shows", async () => {
  const request = {
    ...{ id: "call", tool: "Edit", why: "Edit needs permission" },
    question: { kind: "write", summary: "edit a.ts", paths: [`${PROJECT}/src/a.ts`] },
    rules: ["Edit(src/**)"],
    exactRules: ["Edit(./src/a.ts)"],
  } as const
  const shown = permissionDialog({ request, project: PROJECT }).options
  expect(shown.map(({ letter, about }) => [letter, about])).toEqual([
    ["y", undefined],
    ["a", "Edit(src/**) allows Edit for every file below src."],
    ["e", "Edit(./src/a.ts) allows Edit for ./src/a.ts only."],
    ["n", undefined],
  ])
  const added = async (index: number) => {
    const allowed: string[] = []
    const user = terminalUser({
      ...{ project: PROJECT, allow: (rule: string) => void allowed.push(rule) },
      ask: async () => ({ type: "chosen", index }),
    })
    return [(await user.askPermission(request)).allowed, ...allowed]
  }
  expect(await added(0)).toEqual([true])
  expect(await added(1)).toEqual([true, "Edit(src/**)"])
  expect(await added(2)).toEqual([true, "Edit(./src/a.ts)"])
  expect(await added(3)).toEqual([false])
})
