import { execFileSync, spawn } from "node:child_process"
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as wait } from "node:timers/promises"
import { afterAll, describe, expect, onTestFinished, test, vi } from "vitest"
import { needs } from "../../../test/needs.ts"
import { allEnded, pidsIn } from "../../../test/processes.ts"
import { isWhole } from "../../../test/size.ts"
import type { HookEvent } from "../../base/enums.ts"
import { commandHooks } from "./hook-command.ts"
import { compactionHooks, createHookRunner, type Hook, type HookInput, runHooks } from "./hooks.ts"

const directory = mkdtempSync(join(tmpdir(), "strata-hooks-"))
afterAll(() => rmSync(directory, { recursive: true }))

const input = (event: HookEvent, more: Record<string, unknown> = {}): HookInput => ({
  hook_event_name: event,
  session_id: "s",
  transcript_path: "/t.jsonl",
  cwd: directory,
  ...more,
})

const command = (
  event: HookEvent,
  text: string,
  {
    env,
    ...more
  }: { matcher?: string; timeoutSeconds?: number; passEnv?: string[]; env?: Record<string, string> } = {},
): readonly Hook[] => commandHooks({ [event]: [{ command: text, ...more }] }, { PATH: process.env.PATH, ...env })

test("HOOK-2 a hook without a name is called by its function or its event", async () => {
  const fail = () => {
    throw new Error("oops")
  }
  const hooks: Hook[] = [
    { event: "Stop", run: fail },
    { event: "Stop", run: () => fail() },
  ]
  expect((await runHooks(hooks, input("Stop"))).messages).toEqual([
    'The hook "fail" failed and was skipped: oops',
    'The hook "Stop" failed and was skipped: oops',
  ])
})

describe("HOOK-2 shell commands", () => {
  test("get JSON on standard input and answer with plain text, where that has a meaning", async () => {
    const hooks = command("UserPromptSubmit", "cat > told.json; echo be brief")
    const outcome = await runHooks(hooks, input("UserPromptSubmit", { prompt: "hi" }))
    expect(outcome.contexts).toEqual([{ hook: "cat > told.json; echo be brief", text: "be brief" }])
    expect(JSON.parse(readFileSync(join(directory, "told.json"), "utf8"))).toEqual(
      input("UserPromptSubmit", { prompt: "hi" }),
    )
    expect((await runHooks(command("PostToolUse", "echo just talking"), input("PostToolUse"))).contexts).toEqual([])
  })

  test("exit code 2 blocks, with standard error as the reason", async () => {
    const outcome = await runHooks(command("PreToolUse", "echo not on Fridays >&2; exit 2"), input("PreToolUse"))
    expect(outcome.blocked).toBe("not on Fridays")
  })

  test("JSON may block, decide, add context, tell the person, replace output", async () => {
    const answer = {
      decision: "block",
      reason: "no",
      systemMessage: "for you",
      hookSpecificOutput: {
        additionalContext: "for the model",
        permissionDecision: "deny",
        updatedToolOutput: "instead",
      },
    }
    const outcome = await runHooks(command("PostToolUse", `echo '${JSON.stringify(answer)}'`), input("PostToolUse"))
    expect(outcome).toMatchObject({ blocked: "no", permission: "deny", messages: ["for you"], output: "instead" })
    expect(outcome.contexts[0]?.text).toBe("for the model")
  })

  test.each([
    ["exit 1", /failed and was skipped: exit code 1/],
    ["no-such-command-here", /failed and was skipped: exit code 127/],
  ])("`%s` is reported and does not block", async (text, message) => {
    const outcome = await runHooks(command("PreToolUse", text), input("PreToolUse"))
    expect(outcome.blocked).toBeUndefined()
    expect(outcome.messages[0]).toMatch(message)
  })

  test("one that takes too long is ended with its children", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
    onTestFinished(() => void vi.useRealTimers())
    const running = runHooks(
      command("Stop", "sleep 60 & echo $$ > pid; sleep 60", { timeoutSeconds: 30 }),
      input("Stop"),
    )
    const group = await pidIn("pid")
    vi.advanceTimersByTime(29_999)
    expect(runningInGroup(group)).not.toEqual([])
    vi.advanceTimersByTime(1)
    expect((await running).messages[0]).toMatch(/longer than 30 s/)
    while (runningInGroup(group).length > 0) await wait(2) // killed, but possibly still ending
  })

  test(
    "one whose child has left the group and holds its output open is over in time, too",
    needs("linux"),
    async () => {
      vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
      onTestFinished(() => void vi.useRealTimers())
      const left = "setsid sh -c 'echo $$ > left; exec sleep 600' & sleep 600"
      const running = runHooks(command("PreCompact", left, { timeoutSeconds: 30 }), input("PreCompact"))
      const child = await pidIn("left")
      vi.advanceTimersByTime(30_000)
      expect((await running).messages[0]).toMatch(/longer than 30 s/)
      await allEnded([child]) // it has left the group, but keeps its mark
    },
  )

  test("L4-22 words of any language come whole, however much is printed; JSON with no words in their place says nothing", async () => {
    const print = `"$NODE" -e 'process.stdout.write("a" + "好".repeat(90000))'`
    const hooks = commandHooks({ PreCompact: [{ command: print }] }, { PATH: process.env.PATH, NODE: process.execPath })
    expect((await runHooks(hooks, input("PreCompact"))).contexts[0]!.text).toBe(`a${"好".repeat(90_000)}`)
    const odd = {
      decision: "block",
      reason: 5,
      systemMessage: {},
      hookSpecificOutput: { additionalContext: 42, permissionDecision: "perhaps" },
    }
    const outcome = await runHooks(command("SessionStart", `echo '${JSON.stringify(odd)}'`), input("SessionStart"))
    expect(outcome).toEqual({
      blocked: "blocked by a hook",
      permission: undefined,
      contexts: [],
      messages: [],
      output: undefined,
    })
  })

  test("L4-22 a matcher that is no regular expression is reported, and the next hook runs", async () => {
    const hooks = [...command("PreCompact", "echo a", { matcher: "(" }), ...command("PreCompact", "echo b")]
    const { contexts, messages } = await runHooks(hooks, input("PreCompact", { trigger: "auto" }))
    expect(contexts.map(({ text }) => text)).toEqual(["b"])
    expect(messages[0]).toMatch(/failed and was skipped/)
  })

  test("a matcher chooses the tools", async () => {
    const hooks = command("PreToolUse", "exit 2", { matcher: "Edit|Write" })
    expect((await runHooks(hooks, input("PreToolUse", { tool_name: "Write" }))).blocked).toBeDefined()
    expect((await runHooks(hooks, input("PreToolUse", { tool_name: "WriteAll" }))).blocked).toBeUndefined()
  })
})

/** Waits for the process id that a command wrote to a file. */
async function pidIn(name: string): Promise<number> {
  const file = join(directory, name)
  while (!existsSync(file) || readFileSync(file, "utf8") === "") await wait(2)
  return Number(readFileSync(file, "utf8"))
}

/** Running processes of a group. Ended processes that wait to be reaped are excluded. */
function runningInGroup(group: number): string[] {
  const lines = execFileSync("ps", ["-A", "-o", "pgid=,stat=,args="], { encoding: "utf8" }).split("\n")
  return lines.filter((line) => Number(line.trim().split(/\s+/)[0]) === group && !/^\s*\d+\s+Z/.test(line))
}

test("HOOK-3 PreCompact gets trigger, instructions, conversation and transcript; what it says follows the user's", async () => {
  const hooks = command("PreCompact", "cat > compact.json; echo keep the test names", { matcher: "auto" })
  const session = { session_id: "s", transcript_path: "/t.jsonl", cwd: directory }
  const { before } = compactionHooks(createHookRunner({ hooks, session: () => session }))
  const answer = await before({ trigger: "auto", instructions: "Keep numbers." })
  expect(answer).toEqual({ instructions: "Keep numbers.\n\nkeep the test names", messages: [], blocked: undefined })
  expect(JSON.parse(readFileSync(join(directory, "compact.json"), "utf8"))).toEqual({
    ...session,
    hook_event_name: "PreCompact",
    trigger: "auto",
    custom_instructions: "Keep numbers.",
  })
  const manual = await before({ trigger: "manual", instructions: "" })
  expect(manual.instructions).toBe("")
})

describe("HOOK-2 functions", () => {
  test("run in order; the stricter permission and the first block win; one that throws is passed over", async () => {
    const order: string[] = []
    const hook = (name: string, run: Hook["run"]): Hook => ({
      event: "PreToolUse",
      name,
      run: (...given) => {
        order.push(name)
        return run(...given)
      },
    })
    const outcome = await runHooks(
      [
        hook("a", () => ({ permission: "allow" })),
        hook("b", () => Promise.reject(new Error("oops"))),
        hook("c", () => ({ permission: "deny", block: "first" })),
        hook("d", () => ({ block: "second" })),
      ],
      input("PreToolUse"),
    )
    expect(order).toEqual(["a", "b", "c", "d"])
    expect(outcome).toMatchObject({ permission: "deny", blocked: "first" })
    expect(outcome.messages[0]).toContain("oops")
  })
})

describe("HOOK-2 what people's hooks print", () => {
  const answered = async (event: HookEvent, answer: unknown) => {
    writeFileSync(join(directory, "answer.json"), JSON.stringify(answer))
    return runHooks(command(event, "cat answer.json"), input(event))
  }

  test("PreToolUse: a decision with its reason, a new input, context; the old spelling of a decision", async () => {
    const hookSpecificOutput = {
      hookEventName: "PreToolUse",
      permissionDecision: "allow",
      permissionDecisionReason: "it is harmless",
      updatedInput: { command: "ls -l" },
      additionalContext: "prefer ls -l",
      somethingNew: { of: "a later version" },
    }
    const outcome = await answered("PreToolUse", { hookSpecificOutput, suppressOutput: true })
    expect(outcome).toMatchObject({
      permission: "allow",
      reason: "it is harmless",
      input: { value: { command: "ls -l" } },
    })
    expect(outcome.contexts[0]!.text).toBe("prefer ls -l")
    expect(await answered("PreToolUse", { decision: "approve", reason: "fine" })).toMatchObject({
      permission: "allow",
      reason: "fine",
    })
    expect(await answered("PreToolUse", { hookSpecificOutput: { permissionDecision: "defer" } })).toMatchObject({
      permission: undefined,
      input: undefined,
    })
  })

  test("PermissionRequest: an answer to the question, with its message; to interrupt ends the query", async () => {
    const decided = (decision: object) => answered("PermissionRequest", { hookSpecificOutput: { decision } })
    expect(await decided({ behavior: "allow", updatedInput: { command: "ls" } })).toMatchObject({
      permission: "allow",
      input: { value: { command: "ls" } },
    })
    expect(await decided({ behavior: "deny", message: "not here", interrupt: true })).toMatchObject({
      permission: "deny",
      reason: "not here",
      stop: "not here",
    })
  })

  test("PostToolUse: another output, also as the field for tools of MCP servers", async () => {
    const { output } = await answered("PostToolUse", { hookSpecificOutput: { updatedMCPToolOutput: { rows: 0 } } })
    expect(output).toBe('{"rows":0}')
  })

  test.each(["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "PreCompact"] as const)(
    "%s: to stop, with a reason, and a message for the person",
    async (event) => {
      const outcome = await answered(event, { continue: false, stopReason: "enough", systemMessage: "see the log" })
      expect(outcome).toMatchObject({ stop: "enough", blocked: undefined, messages: ["see the log"] })
    },
  )

  test("JSON that is cut or a list is plain text; exit code 2 does not read it", async () => {
    expect((await runHooks(command("SessionStart", `echo '{"a": '`), input("SessionStart"))).contexts[0]!.text).toBe(
      '{"a":',
    )
    expect((await answered("UserPromptSubmit", ["a"])).contexts[0]!.text).toBe('["a"]')
    const both = `echo '{"hookSpecificOutput":{"permissionDecision":"allow"}}'; echo no >&2; exit 2`
    expect(await runHooks(command("PreToolUse", both), input("PreToolUse"))).toMatchObject({
      blocked: "no",
      permission: undefined,
    })
  })

  test("a later hook sees the input of an earlier one, and must allow its own", async () => {
    const seen: unknown[] = []
    const hook = (run: Hook["run"]): Hook => ({
      event: "PreToolUse",
      run: (given, options) => {
        seen.push(given.tool_input)
        return run(given, options)
      },
    })
    const hooks = [
      hook(() => ({ permission: "allow", input: { command: "a" } })),
      hook(() => undefined),
      hook(() => ({ input: { command: "b" } })),
    ]
    const given = input("PreToolUse", { tool_input: { command: "original" } })
    expect(await runHooks(hooks.slice(0, 2), given)).toMatchObject({
      permission: "allow",
      input: { value: { command: "a" } },
    })
    expect(await runHooks(hooks, given)).toMatchObject({ permission: undefined, input: { value: { command: "b" } } })
    expect(seen.slice(2)).toEqual([{ command: "original" }, { command: "a" }, { command: "a" }])
  })
})

describe("PERM-3 the environment of a hook", () => {
  const env = { ANTHROPIC_API_KEY: "a-key-of-ours", GITHUB_TOKEN: "a-token-of-ours", EDITOR: "vi" }
  const print = 'echo "[$ANTHROPIC_API_KEY] [$GITHUB_TOKEN] [$EDITOR]"'

  test("has no keys, unless the settings name them", async () => {
    const seen = async (passEnv: string[]) => {
      const hooks = command("SessionStart", `${print} > env.txt`, { env, passEnv })
      expect((await runHooks(hooks, input("SessionStart"))).messages).toEqual([])
      return readFileSync(join(directory, "env.txt"), "utf8").trim()
    }
    expect(await seen([])).toBe("[] [] [vi]")
    expect(await seen(["GITHUB_TOKEN"])).toBe("[] [a-token-of-ours] [vi]")
  })

  test("never gets into a report, a reason or a context", async () => {
    const passEnv = ["GITHUB_TOKEN"]
    for (const [event, text] of [
      ["SessionStart", 'echo "$GITHUB_TOKEN" >&2; exit 1'],
      ["PreToolUse", 'echo "$GITHUB_TOKEN" >&2; exit 2'],
      ["SessionStart", 'echo "$GITHUB_TOKEN"'],
      ["Stop", 'echo "{\\"systemMessage\\": \\"$GITHUB_TOKEN\\"}"'],
    ] as const) {
      const outcome = await runHooks(command(event, text, { env, passEnv }), input(event))
      expect(JSON.stringify(outcome)).toContain("[key removed]")
      expect(JSON.stringify(outcome)).not.toContain("a-token-of-ours")
    }
  })
})

describe("LOOP-8 a hook ends", () => {
  const stubborn = (file: string) => `trap '' TERM; echo $$ >> ${file}; sleep 60 & echo $! >> ${file}; wait; sleep 60`

  test("when the query is aborted, with its children; the hooks after it do not run", async () => {
    const file = join(directory, "aborted")
    const abort = new AbortController()
    let ran = false
    const next: Hook = {
      event: "Stop",
      run: () => {
        ran = true
        return undefined
      },
    }
    const running = runHooks([...command("Stop", stubborn(file)), next], input("Stop"), { signal: abort.signal })
    const pids = await pidsIn(file, 2)
    abort.abort(new Error("enough"))
    await expect(running).rejects.toThrow("enough")
    await allEnded(pids)
    expect(ran).toBe(false)
  })

  test.runIf(isWhole)("when it prints without end, in bounded memory", async () => {
    const { messages } = await runHooks(command("Stop", "yes"), input("Stop"))
    expect(messages[0]).toMatch(/failed and was skipped: it printed more than 1000000 characters/)
  })

  test("when this process is killed, with its children", async () => {
    const file = join(directory, "killed")
    const from = (name: string) => JSON.stringify(join(import.meta.dirname, name))
    const program = `import { commandHooks } from ${from("hook-command.ts")}
      import { runHooks } from ${from("hooks.ts")}
      const hooks = commandHooks({ Stop: [{ command: ${JSON.stringify(stubborn(file))} }] }, process.env)
      await runHooks(hooks, { hook_event_name: "Stop", cwd: "/" })`
    const host = spawn(process.execPath, ["--input-type=module", "--eval", program], { stdio: "inherit" })
    const pids = await pidsIn(file, 2)
    host.kill("SIGKILL")
    await allEnded(pids)
  })

  test.runIf(isWhole)("and a function that does not listen does not hold up the abort", async () => {
    const abort = new AbortController()
    const never: Hook = {
      event: "Stop",
      run: () => {
        abort.abort(new Error("enough"))
        return new Promise(() => undefined)
      },
    }
    await expect(runHooks([never], input("Stop"), { signal: abort.signal })).rejects.toThrow("enough")
  })
})
