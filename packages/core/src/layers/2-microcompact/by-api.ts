/**
 * L2-5: what the server is asked to clear from its own copy of the conversation. Nothing changes here, so thinking stays bound to what
 * it was thought for. The edits are a function of the views: the same journal asks for the same.
 *
 * The server looks at every request by itself, and what it would leave moves on with every call: each would break its cache. So once it
 * has cleared, it is asked to leave exactly what it left then, until the context has grown to the trigger again and there is enough to
 * clear (`server-moves-on.ts`).
 */
import type { RequestExtras } from "../../messages/request.ts"
import type { ModelAccepts } from "../../tokens/model-facts.ts"
import { READ_LIKE, WRITE_LIKE } from "./survey.ts"

const CLEAR_TOOL_USES = "clear_tool_uses_20250919"
const BETA = "context-management-2025-06-27"
const ROOM_BEFORE_COMPACTION = 20_000 // tokens between the server's clearing and our compaction

export interface ApiQuestion {
  readonly accepts: ModelAccepts
  /** As the request names them. */
  readonly tools: readonly string[]
  /** How many turns with thinking came after the last long pause; asked for only where the model's thinking is to be cleared. */
  readonly turnsSincePause: () => number | undefined
  /** Tools besides ours whose results may be cleared. */
  readonly clearable?: readonly string[]
  /** Input at which the server clears. */
  readonly trigger: number
  readonly keep: number
  /** So many of the newest calls keep their results: those that it left when it last cleared. */
  readonly leave?: number | undefined
}

/** Input at which the server is to clear: as the figure says, but well before a compaction. */
export function serverTrigger({ most, autoCompact }: { readonly most: number; readonly autoCompact: number }): number {
  return Math.floor(Math.min(most, autoCompact - ROOM_BEFORE_COMPACTION)) // the API takes whole numbers
}

/** How many calls the server leaves alone where a request does not say it. */
export const USUALLY_LEFT = 3

export function editsForServer(question: ApiQuestion): RequestExtras | undefined {
  const edits = [...thinkingEdit(question), ...toolEdit(question)]
  return edits.length > 0 ? { context_management: { edits }, betas: [BETA] } : undefined
}

function toolEdit({ tools, trigger, keep, leave, clearable: more = [] }: ApiQuestion): object[] {
  const clearable: ReadonlySet<string> = new Set([...READ_LIKE, ...WRITE_LIKE, ...more])
  if (!tools.some((tool) => clearable.has(tool))) return []
  const others = tools.filter((tool) => !clearable.has(tool))
  const writeLike = WRITE_LIKE.filter((tool) => tools.includes(tool))
  return [
    {
      type: CLEAR_TOOL_USES,
      trigger: { type: "input_tokens", value: trigger },
      ...(leave === undefined ? {} : { keep: { type: "tool_uses", value: leave } }),
      clear_at_least: { type: "input_tokens", value: Math.ceil(trigger - keep) },
      ...(others.length > 0 ? { exclude_tools: others } : {}),
      ...(writeLike.length > 0 ? { clear_tool_inputs: writeLike } : {}),
    },
  ]
}

/**
 * All thinking while the work goes on; after a long pause only the last turn before it, and what came since. Said this way the same
 * turns stay cleared in every later request, so that the cache is not broken a second time.
 */
function thinkingEdit({ accepts, turnsSincePause }: ApiQuestion): object[] {
  if (accepts.thinkingOff || !accepts.earlierThinking) return [] // the edit is refused where a request does not think
  const since = turnsSincePause()
  const keep = since === undefined ? "all" : { type: "thinking_turns", value: since + 1 }
  return [{ type: "clear_thinking_20251015", keep }]
}

/** Whether calls are among what the server reports to have cleared. */
export const clearedCalls = (applied: readonly unknown[]): boolean =>
  applied.some((edit) => (edit as { type?: unknown } | null)?.type === CLEAR_TOOL_USES)

/** How many of the newest calls the server leaves alone in a request. */
export function leftByServer(request: object): number {
  const edits = ((request as RequestExtras).context_management?.edits ?? []) as {
    type?: string
    keep?: { value?: number }
  }[]
  return edits.find(({ type }) => type === CLEAR_TOOL_USES)?.keep?.value ?? USUALLY_LEFT
}
