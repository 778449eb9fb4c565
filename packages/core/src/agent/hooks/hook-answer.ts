/**
 * Reads what a hook's command printed: JSON in the shape that hooks of other agents use, or plain text. Fields that are unknown or hold
 * something else than expected are ignored, so that a hook written for another agent works here.
 */
import type { HookEvent } from "../../base/vocabulary.ts"
import { type HookAnswer, PERMISSIONS } from "./hooks.ts"

const MOST_CONTEXT = 100_000 // characters for the model
const UNEXPLAINED_BLOCK = "blocked by a hook"
const UNEXPLAINED_STOP = "a hook stopped it"

/** Events whose plain output is context for the model. Other plain output is ignored. */
const OUTPUT_IS_CONTEXT: ReadonlySet<HookEvent> = new Set(["SessionStart", "UserPromptSubmit", "PreCompact"])

export function parseAnswer(stdout: string, event: HookEvent): HookAnswer | undefined {
  const text = stdout.trim().toWellFormed()
  if (text === "") return undefined
  const parsed = objectIn(text)
  if (parsed === undefined) return OUTPUT_IS_CONTEXT.has(event) ? { context: bounded(text) } : undefined
  return withoutMissing({ ...commonAnswer(parsed), ...specificAnswer(parsed, event) })
}

/** Exit code 2: standard error is the reason, and standard output does not count. */
export const blockedBy = (stderr: string): HookAnswer => ({ block: stderr.trim().toWellFormed() || UNEXPLAINED_BLOCK })

type Fields = Readonly<Record<string, unknown>>
type Parsed = { readonly [Field in keyof HookAnswer]: HookAnswer[Field] | undefined }

function commonAnswer(fields: Fields): Parsed {
  const { hookSpecificOutput: specific = {} } = fields
  const context = wordsIn(asFields(specific).additionalContext) ?? wordsIn(fields.additionalContext)
  return {
    block: fields.decision === "block" ? (wordsIn(fields.reason) ?? UNEXPLAINED_BLOCK) : undefined,
    stop:
      fields.continue === false
        ? (wordsIn(fields.stopReason) ?? wordsIn(fields.reason) ?? UNEXPLAINED_STOP)
        : undefined,
    context: context === undefined ? undefined : bounded(context),
    message: wordsIn(fields.systemMessage),
  }
}

function specificAnswer(fields: Fields, event: HookEvent): Parsed {
  const specific = asFields(fields.hookSpecificOutput)
  switch (event) {
    case "PreToolUse":
      return toolAnswer(fields, specific)
    case "PermissionRequest":
      return dialogAnswer(fields, specific)
    default:
      return {
        permission: permissionIn(specific.permissionDecision),
        output: wordsIn(specific.updatedToolOutput) ?? jsonOf(specific.updatedMCPToolOutput),
      }
  }
}

/** `decision: "approve"` is an old spelling of the permission to run. */
function toolAnswer(fields: Fields, specific: Fields): Parsed {
  const approved = fields.decision === "approve" ? "allow" : undefined
  return {
    permission: permissionIn(specific.permissionDecision) ?? approved,
    reason: wordsIn(specific.permissionDecisionReason) ?? (approved && wordsIn(fields.reason)),
    input: inputIn(specific.updatedInput),
  }
}

/** The answer to a question that a person would get. */
function dialogAnswer(fields: Fields, specific: Fields): Parsed {
  const { behavior, message, updatedInput, interrupt } = asFields(specific.decision)
  const reason = wordsIn(message)
  const stopped = behavior === "deny" && interrupt === true ? { stop: reason ?? UNEXPLAINED_STOP } : {}
  const asTool = toolAnswer(fields, specific)
  return {
    permission: permissionIn(behavior) ?? asTool.permission,
    reason: reason ?? asTool.reason,
    input: inputIn(updatedInput) ?? asTool.input,
    ...stopped,
  }
}

function objectIn(text: string): Fields | undefined {
  try {
    const parsed: unknown = JSON.parse(text)
    return typeof parsed === "object" && parsed !== null && !Array.isArray(parsed) ? (parsed as Fields) : undefined
  } catch {
    return undefined
  }
}

const asFields = (value: unknown): Fields => (typeof value === "object" && value !== null ? (value as Fields) : {})

/** Only text gets into the conversation. */
const wordsIn = (value: unknown): string | undefined => (typeof value === "string" ? value.toWellFormed() : undefined)
const jsonOf = (value: unknown) =>
  value === undefined || value === null ? undefined : (wordsIn(value) ?? JSON.stringify(value))
const permissionIn = (value: unknown) => PERMISSIONS.find((known) => known === value)
const bounded = (text: string) => text.slice(0, MOST_CONTEXT).toWellFormed()

/** Anything given counts, even if it is no object: the tool's schema refuses it, and the original does not run in its place. */
const inputIn = (value: unknown) => (value === undefined || value === null ? undefined : (value as HookAnswer["input"]))

const withoutMissing = (answer: Parsed): HookAnswer =>
  Object.fromEntries(Object.entries(answer).filter(([, value]) => value !== undefined)) as HookAnswer
