/**
 * Hooks: functions passed in code, and shell commands from settings. They may observe, add context, block, decide in place of the user, or
 * change the input of a call. A hook that fails is reported and skipped, and does not affect the conversation.
 */
import { setTimeout as wait } from "node:timers/promises"
import type { HookEvent } from "../../base/enums.ts"
import { errorReason } from "../../base/errors.ts"
import { unlessInterrupted } from "../../base/work.ts"
import type { CompactionHooks } from "../../layers/4-compaction/compaction-context.ts"

/** The input of a hook. Shell commands get it as JSON on standard input, with the field names that hooks of other agents use. */
export interface HookInput {
  readonly hook_event_name: HookEvent
  readonly session_id: string
  readonly transcript_path: string
  readonly cwd: string
  readonly [more: string]: unknown
}

export const PERMISSIONS = ["allow", "ask", "deny"] as const // ordered from permissive to strict

export interface HookResult {
  /** Blocks the event and states the reason: the tool does not run, the prompt is not sent, the agent does not stop. */
  readonly block?: string
  /** Context for the model. */
  readonly context?: string
  /** Message for the user. */
  readonly message?: string
  /** PreToolUse, PermissionRequest: decides in place of the user. `allow` does not override rules that deny or ask. */
  readonly permission?: (typeof PERMISSIONS)[number]
  /** Reason for the decision, for the model and the user. */
  readonly reason?: string
  /** PreToolUse, PermissionRequest: replaces the complete input of the call. The new input is validated, authorized, displayed and run. */
  readonly input?: Readonly<Record<string, unknown>>
  /** PostToolUse: replaces the tool's result. */
  readonly output?: string
  /** Ends the query with this reason: `stopped-by-hook`. */
  readonly stop?: string
}

/** A hook as a function. The signal aborts when the query is aborted, and when the agent closes. */
export type HookFunction = (
  input: HookInput,
  options: { readonly signal: AbortSignal },
) => HookResult | undefined | Promise<HookResult | undefined>

export interface Hook {
  readonly event: HookEvent
  /** Regular expression for the tool, the source or the trigger. Default: all. */
  readonly matcher?: string
  readonly run: HookFunction
  /** Name for messages. Default: the name of the function, else the event. */
  readonly name?: string
  /** @internal Whether the hook was written for Claude Code, so that it gets fields in Claude Code's format. */
  readonly isForClaudeCode?: boolean
}

const hookName = ({ name, run, event }: Hook): string => name || (run.name !== "run" && run.name) || event

export interface HookOutcome {
  readonly blocked: string | undefined
  readonly permission: HookResult["permission"]
  /** Reason for the permission decision. */
  readonly reason: string | undefined
  readonly contexts: readonly { readonly hook: string; readonly text: string }[]
  readonly messages: readonly string[]
  readonly output: string | undefined
  /** The last replaced input, and the hook that replaced it. */
  readonly input: { readonly hook: string; readonly value: unknown } | undefined
  readonly stop: string | undefined
}

export interface HookCall {
  /** Fields of the event. */
  readonly eventFields: Readonly<Record<string, unknown>>
  /** Replacements for fields of `about`, for hooks that were written for Claude Code. */
  readonly claudeCode?: Readonly<Record<string, unknown>>
  /** Ends the hooks. The call then rejects. */
  readonly signal?: AbortSignal
  /** Called with the name of each hook before it runs. */
  readonly onRun?: (hook: string) => void
}

/** Runs an agent's hooks for an event. */
export type RunHooks = (event: HookEvent, call: HookCall) => Promise<HookOutcome>

export interface HookSession extends Pick<HookInput, "session_id" | "transcript_path" | "cwd"> {
  /** The permission mode, by the name that hooks of other agents expect. */
  readonly permission_mode?: string
  /** Id of a sub-agent. The session is that of its lead's conversation. */
  readonly agent_id?: string
  readonly agent_type?: string
  readonly agent_transcript_path?: string
}

export interface SessionHooks {
  readonly hooks: readonly Hook[]
  /** Called for every event, because tools change the directory. */
  readonly session: () => HookSession
  /** Ends all hooks except those for the end of the session. */
  readonly closing?: AbortSignal
}

export function createHookRunner({ hooks, session, closing }: SessionHooks): RunHooks {
  return (event, { eventFields, claudeCode, signal, onRun }) => {
    const signals = [signal, event === "SessionEnd" ? undefined : closing].filter((one) => one !== undefined)
    const given = { hook_event_name: event, ...session(), ...eventFields }
    const fitting = claudeCode ? hooks.map((hook) => withFields(hook, claudeCode)) : hooks
    return runHooks(fitting, given, { signal: AbortSignal.any(signals), ...(onRun ? { onRun } : {}) })
  }
}

const withFields = (hook: Hook, fields: Readonly<Record<string, unknown>>): Hook =>
  hook.isForClaudeCode
    ? { ...hook, name: hookName(hook), run: (input, options) => hook.run({ ...input, ...fields }, options) }
    : hook

/** Runs all hooks for an event in order. Later hooks see the input that earlier ones replaced. */
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
    const name = hookName(hook)
    try {
      if (!fits(hook.matcher, matcherSubject(given))) continue
      onRun?.(name)
      const seen = input === undefined ? given : { ...given, tool_input: input.value }
      const answer = await runHook(hook, seen, signal)
      if (answer?.context) contexts.push({ hook: name, text: answer.context })
      if (answer?.message) messages.push(answer.message)
      if (answer?.input !== undefined) {
        input = { hook: name, value: answer.input }
        if (decided?.permission === "allow") decided = undefined // the approval was for the previous input
      }
      blocked ??= answer?.block
      stop ??= answer?.stop
      decided = stricter(decided, answer)
      output = answer?.output ?? output
    } catch (error) {
      signal.throwIfAborted()
      messages.push(`The hook "${name}" failed and was skipped: ${errorReason(error)}`)
    }
  }
  const { permission, reason } = decided ?? { permission: undefined, reason: undefined }
  return { blocked, permission, reason, contexts, messages, output, input, stop }
}

const ABORT_GRACE_MS = 500 // a command needs less; a function that ignores the signal is abandoned

/** Runs one hook. On abort, waits briefly for it to end. */
async function runHook({ run }: Hook, input: HookInput, signal: AbortSignal): Promise<HookResult | undefined> {
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

/** Returns the stricter decision. If both are equal, the reason of the first one is used. */
function stricter(first: Decision | undefined, answer: HookResult | undefined): Decision | undefined {
  const permission = answer?.permission
  if (permission === undefined) return first
  if (first && PERMISSIONS.indexOf(first.permission) >= PERMISSIONS.indexOf(permission)) return first
  return { permission, reason: answer?.reason }
}

/** Messages of hooks for events that cannot be blocked, for the user. */
export const hookReports = ({ messages, blocked, stop }: HookOutcome): readonly string[] => [
  ...messages,
  ...[blocked, stop].filter((text) => text !== undefined).map((text) => `A hook says: ${text}`),
]

/**
 * The text that a matcher is compared with: the tool of a call, the source of a session, the trigger of a compaction, or the type of a
 * notification or sub-agent.
 */
const matcherSubject = ({ tool_name, source, trigger, notification_type, agent_type }: HookInput): string =>
  String(tool_name ?? source ?? trigger ?? notification_type ?? agent_type ?? "")

function fits(matcher: string | undefined, subject: string): boolean {
  return matcher === undefined || matcher === "" || matcher === "*" || new RegExp(`^(?:${matcher})$`).test(subject)
}

/** Hooks around a compaction, in order: PreCompact, SessionStart with the source `compact`, PostCompact. */
export function compactionHooks(runHooks: RunHooks): CompactionHooks {
  return {
    async before({ trigger, instructions: own, ...run }) {
      const eventFields = { trigger, custom_instructions: own }
      const { contexts, messages, blocked, stop } = await runHooks("PreCompact", {
        eventFields,
        ...given(run, "PreCompact"),
      })
      const all = [own, ...contexts.map(({ text }) => text)].filter((text) => text !== "")
      return { instructions: all.join("\n\n"), messages, blocked: blocked ?? stop }
    },
    async started(run = {}) {
      const outcome = await runHooks("SessionStart", {
        eventFields: { source: "compact" },
        ...given(run, "SessionStart"),
      })
      return { contexts: outcome.contexts, messages: hookReports(outcome) }
    },
    // only its messages for the user are used
    async after({ trigger, summary, signal }) {
      try {
        const eventFields = { trigger, compact_summary: summary }
        return { messages: hookReports(await runHooks("PostCompact", { eventFields, ...(signal ? { signal } : {}) })) }
      } catch (error) {
        if (signal?.aborted) return { messages: [] } // the compaction is done
        throw error
      }
    },
  }
}

type CompactionRun = NonNullable<Parameters<CompactionHooks["started"]>[0]>

const given = ({ signal, progress }: CompactionRun, event: "PreCompact" | "SessionStart") => ({
  ...(signal ? { signal } : {}),
  ...(progress ? { onRun: (hook: string) => progress({ phase: "hook", event, hook }) } : {}),
})
