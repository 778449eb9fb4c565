/**
 * Hooks: functions given in code, and shell commands from settings. They may watch, add context, block, decide in place of the person, or
 * change the input of a call. A hook that fails is reported and skipped; it never breaks the conversation.
 */
import { setTimeout as wait } from "node:timers/promises"
import { reasonOf } from "../../base/errors.ts"
import type { HookEvent } from "../../base/vocabulary.ts"
import { unlessInterrupted } from "../../base/work.ts"
import type { CompactionHooks } from "../../layers/4-compaction/situation.ts"

/** The input of a hook. Shell commands get it as JSON on standard input, with the field names that hooks of other agents use. */
export interface HookInput {
  readonly hook_event_name: HookEvent
  readonly session_id: string
  readonly transcript_path: string
  readonly cwd: string
  readonly [more: string]: unknown
}

export const PERMISSIONS = ["allow", "ask", "deny"] as const // from loose to strict

export interface HookAnswer {
  /** Blocks what is about to happen, and says why: the tool does not run, the prompt is not sent, the agent does not stop. */
  readonly block?: string
  /** For the model. */
  readonly context?: string
  /** For the person. */
  readonly message?: string
  /** PreToolUse, PermissionRequest: decides in place of the person. `allow` overrules no rule that denies or asks. */
  readonly permission?: (typeof PERMISSIONS)[number]
  /** Why it decides so, for the model and the person. */
  readonly reason?: string
  /** PreToolUse, PermissionRequest: replaces the input of the call as a whole. It is checked, judged, shown and run in its place. */
  readonly input?: Readonly<Record<string, unknown>>
  /** PostToolUse: replaces the tool's result. */
  readonly output?: string
  /** Ends the query, and says why: the reason is `stopped-by-hook`. */
  readonly stop?: string
}

/** The signal aborts when the query does, and when the agent closes. */
export type HookFunction = (
  input: HookInput,
  options: { readonly signal: AbortSignal },
) => HookAnswer | undefined | Promise<HookAnswer | undefined>

export interface Hook {
  readonly event: HookEvent
  /** A regular expression for the tool, the source or the trigger. Default: all. */
  readonly matcher?: string
  readonly run: HookFunction
  /** For messages. Default: the name of the function, else the event. */
  readonly name?: string
  /** @internal It was written for Claude Code: fields that have another form there get that form. */
  readonly isForClaudeCode?: boolean
}

const nameOf = ({ name, run, event }: Hook): string => name || (run.name !== "run" && run.name) || event

export interface HookOutcome {
  readonly blocked: string | undefined
  readonly permission: HookAnswer["permission"]
  /** Why the permission was decided so. */
  readonly reason: string | undefined
  readonly contexts: readonly { readonly hook: string; readonly text: string }[]
  readonly messages: readonly string[]
  readonly output: string | undefined
  /** The last new input, and the hook that gave it. */
  readonly input: { readonly hook: string; readonly value: unknown } | undefined
  readonly stop: string | undefined
}

export interface HookCall {
  /** The fields of the event. */
  readonly about: Readonly<Record<string, unknown>>
  /** In place of fields of `about`, for hooks that were written for Claude Code. */
  readonly claudeCode?: Readonly<Record<string, unknown>>
  /** Ends the hooks. The call then rejects. */
  readonly signal?: AbortSignal
  /** Called with the name of each hook before it runs. */
  readonly onRun?: (hook: string) => void
}

/** Runs an agent's hooks for an event. */
export type RunHooks = (event: HookEvent, call: HookCall) => Promise<HookOutcome>

export interface HookSession extends Pick<HookInput, "session_id" | "transcript_path" | "cwd"> {
  /** The mode, by the name that hooks of other agents expect. */
  readonly permission_mode?: string
  /** For a sub-agent. The session is that of the conversation it works for. */
  readonly agent_id?: string
  readonly agent_type?: string
  readonly agent_transcript_path?: string
}

export interface SessionHooks {
  readonly hooks: readonly Hook[]
  /** Read at every run: tools move the directory. */
  readonly session: () => HookSession
  /** Ends every hook but those for the end of the session. */
  readonly closing?: AbortSignal
}

export function hooksOf({ hooks, session, closing }: SessionHooks): RunHooks {
  return (event, { about, claudeCode, signal, onRun }) => {
    const signals = [signal, event === "SessionEnd" ? undefined : closing].filter((one) => one !== undefined)
    const given = { hook_event_name: event, ...session(), ...about }
    const fitting = claudeCode ? hooks.map((hook) => withFields(hook, claudeCode)) : hooks
    return runHooks(fitting, given, { signal: AbortSignal.any(signals), ...(onRun ? { onRun } : {}) })
  }
}

const withFields = (hook: Hook, fields: Readonly<Record<string, unknown>>): Hook =>
  hook.isForClaudeCode
    ? { ...hook, name: nameOf(hook), run: (input, options) => hook.run({ ...input, ...fields }, options) }
    : hook

/** Runs every hook for an event, in the order they were given. A later hook sees the input that an earlier one gave. */
export async function runHooks(
  hooks: readonly Hook[],
  given: HookInput,
  { signal = new AbortController().signal, onRun }: Pick<HookCall, "signal" | "onRun"> = {},
): Promise<HookOutcome> {
  const contexts: { hook: string; text: string }[] = []
  const messages: string[] = []
  let decided: Decision | undefined
  let [blocked, output, stop]: (string | undefined)[] = []
  let input: HookOutcome["input"]
  for (const hook of hooks) {
    if (hook.event !== given.hook_event_name) continue
    const name = nameOf(hook)
    try {
      if (!fits(hook.matcher, subjectOf(given))) continue
      onRun?.(name)
      const seen = input === undefined ? given : { ...given, tool_input: input.value }
      const answer = await runOne(hook, seen, signal)
      if (answer?.context) contexts.push({ hook: name, text: answer.context })
      if (answer?.message) messages.push(answer.message)
      if (answer?.input !== undefined) {
        input = { hook: name, value: answer.input }
        if (decided?.permission === "allow") decided = undefined // it was given to another input
      }
      blocked ??= answer?.block
      stop ??= answer?.stop
      decided = stricter(decided, answer)
      output = answer?.output ?? output
    } catch (error) {
      signal.throwIfAborted()
      messages.push(`The hook "${name}" failed and was skipped: ${reasonOf(error)}`)
    }
  }
  const { permission, reason } = decided ?? { permission: undefined, reason: undefined }
  return { blocked, permission, reason, contexts, messages, output, input, stop }
}

const ABORT_GRACE_MS = 500 // a command needs less; a function that does not listen to the signal is not waited for

/** On abort, waits until the hook has ended, but not for long. */
async function runOne({ run }: Hook, input: HookInput, signal: AbortSignal): Promise<HookAnswer | undefined> {
  signal.throwIfAborted()
  const running = (async () => run(input, { signal }))()
  const done = await unlessInterrupted(signal, running)
  if (done.state === "settled") return done.value
  await Promise.race([running.catch(() => undefined), wait(ABORT_GRACE_MS, undefined, { ref: false })])
  throw signal.reason
}

interface Decision {
  readonly permission: (typeof PERMISSIONS)[number]
  readonly reason: string | undefined
}

/** Of two equal decisions the first one's reason counts. */
function stricter(first: Decision | undefined, answer: HookAnswer | undefined): Decision | undefined {
  const permission = answer?.permission
  if (permission === undefined) return first
  if (first && PERMISSIONS.indexOf(first.permission) >= PERMISSIONS.indexOf(permission)) return first
  return { permission, reason: answer?.reason }
}

/** For events that cannot be blocked: everything that hooks want the person to know. */
export const reportsOf = ({ messages, blocked, stop }: HookOutcome): readonly string[] => [
  ...messages,
  ...[blocked, stop].filter((text) => text !== undefined).map((text) => `A hook says: ${text}`),
]

/** What a matcher is compared with: the tool of a call, how a session started, what triggered a compaction, the kind of a message or of a sub-agent. */
const subjectOf = ({ tool_name, source, trigger, notification_type, agent_type }: HookInput): string =>
  String(tool_name ?? source ?? trigger ?? notification_type ?? agent_type ?? "")

function fits(matcher: string | undefined, subject: string): boolean {
  return matcher === undefined || matcher === "" || matcher === "*" || new RegExp(`^(?:${matcher})$`).test(subject)
}

/** The hooks around a compaction, in order: PreCompact, SessionStart with the source `compact`, PostCompact. */
export function compactionHooks(runHooks: RunHooks): CompactionHooks {
  return {
    async before({ trigger, instructions: own, ...run }) {
      const about = { trigger, custom_instructions: own }
      const { contexts, messages, blocked, stop } = await runHooks("PreCompact", { about, ...given(run, "PreCompact") })
      const all = [own, ...contexts.map(({ text }) => text)].filter((text) => text !== "")
      return { instructions: all.join("\n\n"), messages, blocked: blocked ?? stop }
    },
    async started(run = {}) {
      const outcome = await runHooks("SessionStart", { about: { source: "compact" }, ...given(run, "SessionStart") })
      return { contexts: outcome.contexts, messages: reportsOf(outcome) }
    },
    // only what it wants the person to know is used
    async after({ trigger, summary, signal }) {
      try {
        const about = { trigger, compact_summary: summary }
        return { messages: reportsOf(await runHooks("PostCompact", { about, ...(signal ? { signal } : {}) })) }
      } catch (error) {
        if (signal?.aborted) return { messages: [] } // the compaction is done
        throw error
      }
    },
  }
}

type Run = NonNullable<Parameters<CompactionHooks["started"]>[0]>

const given = ({ signal, progress }: Run, event: "PreCompact" | "SessionStart") => ({
  ...(signal ? { signal } : {}),
  ...(progress ? { onRun: (hook: string) => progress({ phase: "hook", event, hook }) } : {}),
})
