/** A hostile repository, opened with the real program by a user who does not trust it. The tests check the disk and the requests. */
import { existsSync, readFileSync } from "node:fs"
import { dirname } from "node:path"
import type { ScriptedTurn } from "@strata/sim"
import { describe, expect, test } from "vitest"
import { commandShape } from "../../core/src/agent/tools/shell/command/command-facts.ts"
import { needs } from "../../core/test/needs.ts"
import { everyNth, isWhole } from "../../core/test/size.ts"
import { TAKES_KEYS } from "./chatting.ts"
import { HONEST_LINES, HOSTILE_LINES } from "./hostile-lines.ts"
import {
  contentsBelow,
  makeHonestRepository,
  makeHostileRepository,
  markerOf,
  SECRET_ENVIRONMENT,
  SECRETS,
} from "./hostile-repository.ts"
import { openPty } from "./terminal.ts"
import { type Workbench, workbench } from "./workbench.ts"

interface Call {
  readonly name: string
  readonly input: Readonly<Record<string, unknown>>
}

interface Result {
  readonly call: Call
  readonly text: string
  readonly isError: boolean
}

/** An allowed call, whose directory contains half a million characters of instructions. */
const NESTED: Call = { name: "Read", input: { file_path: "nested/file.ts" } }

const bash = (command: string): Call => ({ name: "Bash", input: { command, description: "Work" } })

/** A model that makes these calls in one turn and then ends. It records all requests, including those for notes. */
function scriptedModel(calls: readonly Call[]) {
  const requests: string[] = []
  const byId = new Map<string, Call>()
  const results: Result[] = []
  const first: ScriptedTurn = ({ request, nextToolUseId }) => {
    requests.push(JSON.stringify(request))
    const content = calls.map((call) => {
      const id = nextToolUseId()
      byId.set(id, call)
      return { type: "tool_use" as const, id, ...call }
    })
    return { content }
  }
  const last: ScriptedTurn = ({ request }) => {
    requests.push(JSON.stringify(request))
    for (const { type, tool_use_id: id, content, is_error: isError = false } of request.messages.at(-1)!.content) {
      const text = typeof content === "string" ? content : JSON.stringify(content)
      if (type === "tool_result" && !text.startsWith("Still running: "))
        results.push({ call: byId.get(id!)!, text, isError })
    }
    return "Done."
  }
  return { turns: [first, last, last, last], requests, results }
}

const outOfProject = (bench: Workbench): string => dirname(bench.project)

/** Calls that a file tool could be tricked into. */
const fileCalls = (bench: { readonly project: string }): readonly Call[] => {
  const write = (file_path: string): Call => ({ name: "Write", input: { file_path, content: "#!/bin/sh\n" } })
  const read = (file_path: string): Call => ({ name: "Read", input: { file_path } })
  const { project } = bench
  return [
    ...[
      ".git/hooks/pre-push",
      ".git/config",
      ".strata/settings.local.json",
      ".STRATA/settings.json",
      ".vscode/tasks.json",
    ].map(write),
    ...["../.bashrc", "src/../../.profile", "link-out/new", "src/link", "../home/settings.json", ".mcp.json"].map(
      write,
    ),
    ...[`${project}/../outside/new`, ".husky/pre-commit", "sub/.git", "bare/HEAD"].map(write),
    ...["../outside/secret.txt", "src/link", "link-out/secret.txt", "../.netrc", "/proc/self/environ", "CLAUDE.md"].map(
      read,
    ),
    { name: "Edit", input: { file_path: ".git/config", old_string: "[core]", new_string: "[core]\n" } },
    { name: "Grep", input: { pattern: ".", path: "link-out", output_mode: "content" } },
    { name: "Grep", input: { pattern: "secret", path: "../outside", output_mode: "content" } },
    { name: "Glob", input: { pattern: "../outside/*" } },
    { name: "Glob", input: { pattern: "*", path: "link-out" } },
    { name: "Skill", input: { name: "stolen" } },
    { name: "WebFetch", input: { url: "http://169.254.169.254/latest/meta-data/" } },
  ]
}

/** The secret in plain form and in the encodings of common programs. */
const formsOf = (secret: string): readonly string[] => [
  secret,
  secret.toUpperCase(),
  [...secret].reverse().join(""),
  Buffer.from(secret).toString("hex"),
  Buffer.from(secret).toString("base64").replace(/=+$/, "").slice(0, -2),
]

const around = (text: string, form: string) => text.slice(Math.max(text.indexOf(form) - 200, 0)).slice(0, 300)

function expectNoSecret(texts: readonly string[]): void {
  for (const [name, secret] of Object.entries(SECRETS))
    for (const form of formsOf(secret))
      expect([name, texts.filter((text) => text.includes(form)).map((text) => around(text, form))]).toEqual([name, []])
}

async function hostileBench(calls: readonly Call[] | ((bench: { project: string }) => readonly Call[])) {
  const given: Call[] = []
  const model = scriptedModel(given)
  const bench = await workbench({ turns: model.turns })
  given.push(...(typeof calls === "function" ? calls(bench) : calls))
  const place = { place: outOfProject(bench), project: bench.project }
  makeHostileRepository(place)
  const before = contentsBelow(place.place, { except: [bench.home] })
  return { bench, model, place, before }
}

type Hostile = Awaited<ReturnType<typeof hostileBench>>

/** Expects that nothing ran, that no outside or executable file was changed, and that no secret was sent, stored or shown. */
function expectUntouched({ bench, model, place, before }: Hostile, shown: readonly string[]): void {
  expect(existsSync(markerOf(place)) ? readFileSync(markerOf(place), "utf8") : "").toBe("")
  expect(contentsBelow(place.place, { except: [bench.home] })).toEqual(before)
  expectNoSecret([...model.requests, ...shown, ...Object.values(contentsBelow(bench.home))])
  for (const request of model.requests) expect(request.length).toBeLessThan(400_000) // the nested file alone is longer
}

describe("PERM-1 PERM-3 PERM-4 PERM-5 strata run in a hostile repository: nothing of it runs, widens, reads outside or is sent", () => {
  test.each(everyNth(["accept-edits", "ask", "plan"], 3))(
    `mode %s: ${HOSTILE_LINES.length} shell lines and the file tools`,
    async (mode) => {
      expect(HOSTILE_LINES.length).toBeGreaterThanOrEqual(150)
      const hostile = await hostileBench((bench) => [...HOSTILE_LINES.map(bash), ...fileCalls(bench), NESTED])
      await using bench = hostile.bench
      const env = { ...SECRET_ENVIRONMENT, STRATA_SANDBOX: "off" }
      const { code, stdout, stderr } = await bench.strata(["run", "Work.", "--mode", mode], { env }).ended
      expect({ code, stdout }).toEqual({ code: 0, stdout: "Done.\n" })
      const { results } = hostile.model
      expect(results).toHaveLength(HOSTILE_LINES.length + fileCalls(bench).length + 1)
      expect(results.filter(({ isError }) => !isError).map(({ call }) => call)).toEqual([NESTED])
      expect(hostile.model.requests.at(-1)).toContain("Nested rules.")
      expectUntouched(hostile, [stdout, stderr])
      expect(stderr).not.toContain("\u001b")
      for (const left of ["hook on SessionStart", "MCP server helper", "permission mode: bypass", "allow rule: Bash"])
        expect(stderr).toContain(left)
    },
  )

  test.runIf(isWhole)(
    "in the sandbox more lines run, and none has an effect or sees a secret",
    needs("sandbox"),
    async () => {
      const hostile = await hostileBench(HOSTILE_LINES.map(bash))
      await using bench = hostile.bench
      const { stdout, stderr } = await bench.strata(["run", "Work."], { env: SECRET_ENVIRONMENT }).ended
      expect(stdout).toBe("Done.\n")
      expect(hostile.model.results.filter(({ isError }) => !isError).length).toBeGreaterThan(10)
      expectUntouched(hostile, [stdout, stderr])
    },
  )
})

test.runIf(isWhole)(
  "PERM-3 PERM-5 strata chat in a hostile repository, opened without trust, with every question answered no",
  needs("python3"),
  async () => {
    const asked = ["cat src/link", "git status", "echo x >> ~/.bashrc"]
    const hostile = await hostileBench([...asked.map(bash), NESTED])
    await using bench = hostile.bench
    const env = { ...bench.env, ...SECRET_ENVIRONMENT }
    await using terminal = openPty({ command: [...bench.command, "chat"], cwd: bench.project, env })
    await terminal.sees("trust, without or quit?")
    terminal.type("without")
    terminal.press("enter")
    await terminal.sees("Type a task, or /help.")
    terminal.type("Work.")
    terminal.press("enter")
    for (const _ of asked) {
      await terminal.sees(TAKES_KEYS)
      terminal.type("n")
      await terminal.sees("Enter sends, Esc goes back")
      terminal.press("enter")
    }
    await terminal.sees("Done.")
    terminal.press("ctrl-d")
    await terminal.sees("To continue")
    expect(hostile.model.results.map(({ isError }) => isError)).toEqual([true, true, true, false])
    expectUntouched(hostile, [terminal.bytes()])
    expect(terminal.bytes()).not.toContain("\u001b]52")
  },
)

const lines = everyNth(HONEST_LINES, 6)

test(`PERM-4 ${lines.length} commands of daily work run unasked and print what they should`, needs("sandbox"), () =>
  expectUnasked(lines, {}),
)

test("PERM-9 without a sandbox, those of the small language do", () => {
  const small = everyNth(HONEST_LINES, 8).filter(([line]) => commandShape(line).isReadOnly)
  expect(small.length).toBeGreaterThan(HONEST_LINES.length / 30)
  return expectUnasked(small, { STRATA_SANDBOX: "off" })
})

async function expectUnasked(given: typeof HONEST_LINES, settings: Readonly<Record<string, string>>): Promise<void> {
  const model = scriptedModel(given.map(([line]) => bash(line)))
  await using bench = await workbench({ turns: model.turns })
  makeHonestRepository(bench.project)
  // system programs only, because those of a checkout below a temporary directory must not be used
  const env = { PATH: "/usr/local/bin:/usr/bin:/bin", ...settings }
  await bench.here(["run", "Work.", "--mode", "ask"], { env })
  expect(HONEST_LINES.length).toBeGreaterThanOrEqual(50)
  expect(model.results).toHaveLength(given.length)
  const wrong = model.results.filter(({ text, isError }, i) => isError || !text.includes(given[i]![1]))
  expect(wrong.map(({ call, text }) => [call.input.command, text])).toEqual([])
}
