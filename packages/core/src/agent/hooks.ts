/**
 * Hooks: functions given in code, and shell commands from settings. They may watch, add context, or block. A hook that fails is reported
 * and skipped; it never breaks the conversation.
 */
import { spawn } from "node:child_process"
import { reasonOf } from "../base/errors.ts"
import type { Settings } from "../base/settings.ts"
import type { HookEvent } from "../base/vocabulary.ts"

/** The input of a hook. Shell commands get it as JSON on standard input, with the field names that hooks of other agents use. */
export interface HookInput {
  readonly hook_event_name: HookEvent
  readonly session_id: string
  readonly transcript_path: string
  readonly cwd: string
  readonly [more: string]: unknown
}

export interface HookAnswer {
  /** Blocks what is about to happen, and says why: the tool does not run, the prompt is not sent, the agent does not stop. */
  readonly block?: string
  /** For the model. */
  readonly context?: string
  /** For the person. */
  readonly message?: string
  /** PreToolUse: decides in place of the person. */
  readonly permission?: "allow" | "deny" | "ask"
  /** PostToolUse: replaces the tool's result. */
  readonly output?: string
}

export type HookFunction = (input: HookInput) => HookAnswer | undefined | Promise<HookAnswer | undefined>

export interface Hook {
  readonly event: HookEvent
  /** A regular expression for the tool, the source or the trigger. Default: all. */
  readonly matcher?: string
  readonly run: HookFunction
  /** For messages. Default: the name of the function, else the event. */
  readonly name?: string
}

const nameOf = ({ name, run, event }: Hook): string => name || (run.name !== "run" && run.name) || event

export interface HookOutcome {
  readonly blocked: string | undefined
  readonly permission: HookAnswer["permission"]
  readonly contexts: readonly { readonly hook: string; readonly text: string }[]
  readonly messages: readonly string[]
  readonly output: string | undefined
}

const DEFAULT_TIMEOUT_SECONDS = 60
const BLOCKING_EXIT = 2
const MOST_OUTPUT = 100_000 // characters

/** Runs an agent's hooks for an event. `about` holds the fields of that event. */
export type RunHooks = (event: HookEvent, about: Readonly<Record<string, unknown>>) => Promise<HookOutcome>

/** `session` is read at every run: tools move the directory. */
export function hooksOf(
  hooks: readonly Hook[],
  session: () => Pick<HookInput, "session_id" | "transcript_path" | "cwd">,
): RunHooks {
  return (event, about) => runHooks(hooks, { hook_event_name: event, ...session(), ...about })
}

/** Runs every hook for an event, in the order they were given. */
export async function runHooks(hooks: readonly Hook[], input: HookInput): Promise<HookOutcome> {
  const contexts: { hook: string; text: string }[] = []
  const messages: string[] = []
  let blocked: string | undefined
  let permission: HookAnswer["permission"]
  let output: string | undefined
  for (const hook of hooks) {
    if (hook.event !== input.hook_event_name) continue
    try {
      if (!fits(hook.matcher, subjectOf(input))) continue
      const answer = await hook.run(input)
      if (answer?.context) contexts.push({ hook: nameOf(hook), text: answer.context })
      if (answer?.message) messages.push(answer.message)
      blocked ??= answer?.block
      permission = stricter(permission, answer?.permission)
      output = answer?.output ?? output
    } catch (error) {
      messages.push(`The hook "${nameOf(hook)}" failed and was skipped: ${reasonOf(error)}`)
    }
  }
  return { blocked, permission, contexts, messages, output }
}

const STRICTNESS = ["allow", "ask", "deny"] as const

function stricter(a: HookAnswer["permission"], b: HookAnswer["permission"]): HookAnswer["permission"] {
  if (a === undefined || b === undefined) return a ?? b
  return STRICTNESS[Math.max(STRICTNESS.indexOf(a), STRICTNESS.indexOf(b))]
}

/** What a matcher is compared with: the tool of a call, how a session started, what triggered a compaction. */
const subjectOf = ({ tool_name, source, trigger }: HookInput): string => String(tool_name ?? source ?? trigger ?? "")

function fits(matcher: string | undefined, subject: string): boolean {
  return matcher === undefined || matcher === "" || matcher === "*" || new RegExp(`^(?:${matcher})$`).test(subject)
}

/** The hooks of the settings: shell commands. */
export function commandHooks(
  settings: Settings["hooks"],
  env: Readonly<Record<string, string | undefined>>,
): readonly Hook[] {
  return Object.entries(settings).flatMap(([event, commands]) =>
    (commands ?? []).map(({ command, matcher, timeoutSeconds = DEFAULT_TIMEOUT_SECONDS }) => ({
      event: event as HookEvent,
      name: command,
      ...(matcher === undefined ? {} : { matcher }),
      run: (input: HookInput) => runCommand({ command, input, timeoutMs: timeoutSeconds * 1000, env }),
    })),
  )
}

interface CommandRun {
  readonly command: string
  readonly input: HookInput
  readonly timeoutMs: number
  readonly env: Readonly<Record<string, string | undefined>>
}

function runCommand({ command, input, timeoutMs, env }: CommandRun): Promise<HookAnswer | undefined> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, { shell: true, cwd: input.cwd, env, detached: true, stdio: ["pipe", "pipe", "pipe"] })
    let late = false
    const timer = setTimeout(() => {
      late = true
      killGroup(child.pid)
      // a child that left the group may hold them open forever
      child.stdout.destroy()
      child.stderr.destroy()
    }, timeoutMs)
    let [stdout, stderr] = ["", ""]
    // decoded as a stream: what is read may end in the middle of a character
    child.stdout.setEncoding("utf8").on("data", (data: string) => {
      stdout = (stdout + data).slice(0, MOST_OUTPUT)
    })
    child.stderr.setEncoding("utf8").on("data", (data: string) => {
      stderr = (stderr + data).slice(0, MOST_OUTPUT)
    })
    child.stdin.on("error", () => undefined) // a hook need not read its input
    child.stdin.end(JSON.stringify(input))
    child.on("error", (error) => {
      clearTimeout(timer)
      reject(error)
    })
    child.on("close", (code) => {
      clearTimeout(timer)
      if (late) reject(new Error(`it took longer than ${timeoutMs / 1000} s`))
      else if (code === BLOCKING_EXIT) resolve({ block: stderr.trim() || "blocked by a hook" })
      else if (code !== 0) reject(new Error(`exit code ${code}${stderr ? `: ${stderr.trim().slice(0, 500)}` : ""}`))
      else resolve(parseAnswer(stdout, input.hook_event_name))
    })
  })
}

function killGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, "SIGKILL")
  } catch {
    // it has already ended
  }
}

/** Events whose plain output is context for the model. Other plain output is ignored. */
const OUTPUT_IS_CONTEXT: ReadonlySet<HookEvent> = new Set(["SessionStart", "UserPromptSubmit", "PreCompact"])

/** JSON in the shape that other agents' hooks use, or plain text. */
function parseAnswer(stdout: string, event: HookEvent): HookAnswer | undefined {
  const text = stdout.trim().toWellFormed() // the cut may have split a character
  if (text === "") return undefined
  let parsed: ForeignAnswer
  try {
    parsed = JSON.parse(text) as ForeignAnswer
  } catch {
    return OUTPUT_IS_CONTEXT.has(event) ? { context: text } : undefined
  }
  if (typeof parsed !== "object" || parsed === null) return OUTPUT_IS_CONTEXT.has(event) ? { context: text } : undefined
  const specific = parsed.hookSpecificOutput ?? {}
  const blocked = parsed.decision === "block" || parsed.continue === false
  const [context, message] = [wordsIn(specific.additionalContext), wordsIn(parsed.systemMessage)]
  const permission = STRICTNESS.find((known) => known === specific.permissionDecision)
  const output = wordsIn(specific.updatedToolOutput)
  return {
    ...(blocked ? { block: wordsIn(parsed.reason) ?? wordsIn(parsed.stopReason) ?? "blocked by a hook" } : {}),
    ...(context === undefined ? {} : { context }),
    ...(message === undefined ? {} : { message }),
    ...(permission === undefined ? {} : { permission }),
    ...(output === undefined ? {} : { output }),
  }
}

/** Only text gets into the conversation. */
const wordsIn = (value: unknown): string | undefined => (typeof value === "string" ? value.toWellFormed() : undefined)

/** The expected shape. A hook may have written anything into these fields. */
interface ForeignAnswer {
  readonly continue?: unknown
  readonly decision?: unknown
  readonly reason?: unknown
  readonly stopReason?: unknown
  readonly systemMessage?: unknown
  readonly hookSpecificOutput?: {
    readonly additionalContext?: unknown
    readonly permissionDecision?: unknown
    readonly updatedToolOutput?: unknown
  } | null
}
