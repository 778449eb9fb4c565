/** The prompt that surrounds the messages of every request, rendered once and then sent unchanged. */
import { errorReason } from "../base/errors.ts"
import { describe, InvalidOptionError } from "../base/options.ts"
import { type DecisionOf, isBoundaryEntry } from "../journal/entries.ts"
import { isDeferred, isThinking, toolName, toWellFormed } from "../messages/blocks.ts"
import { contentOf } from "../messages/messages.ts"
import { renderPreamble } from "../messages/preamble.ts"
import type { SystemPrompt, ToolDefinition } from "../messages/request.ts"
import { promptProblem } from "../messages/validate/prompt-problem.ts"
import type { Model } from "../model/model.ts"
import type { FlagReader } from "../settings/flags.ts"
import type { Settings } from "../settings/settings.ts"
import { createEstimator } from "../tokens/estimate.ts"
import { findModel, type ModelAccepts, type ModelFacts } from "../tokens/models.ts"
import { type DeferralPlan, declareTools, withLoaded } from "../tools/deferred/declare.ts"
import type { ToolGrowth } from "../tools/deferred/deferred-tools.ts"
import { checkTool, isToolset, refuseDuplicates } from "../tools/define-tool.ts"
import type { Tool } from "../tools/tool.ts"
import { THINKING_DROP_REASONS } from "../views/compaction-entries.ts"
import { loadedTools } from "../views/context/request.ts"
import type { ConversationRecord } from "./record.ts"
import type { Window } from "./window.ts"

/** The part of a request before the messages. */
export interface Prompt {
  readonly system?: SystemPrompt
  readonly tools?: readonly ToolDefinition[]
  /** Titled texts that are sent before the conversation: project instructions, a memory index. */
  readonly context?: Readonly<Record<string, string>>
}

/** A prompt before its tools are converted to definitions. */
interface UnresolvedPrompt extends Omit<Prompt, "tools"> {
  readonly tools?: readonly (Tool | ToolDefinition)[]
}

export async function resolvePrompt({ system, tools, context }: UnresolvedPrompt): Promise<Prompt> {
  return {
    ...(system === undefined ? {} : { system }),
    ...(tools === undefined ? {} : { tools: await toolDefinitions(tools) }),
    ...(context === undefined ? {} : { context }),
  }
}

/** Converts tools to definitions. Definitions in the API's format have no `execute`. */
function toolDefinitions(tools: NonNullable<UnresolvedPrompt["tools"]>): Promise<ToolDefinition[]> {
  for (const [index, tool] of tools.entries()) checkItem(tool, index)
  refuseDuplicates(tools.map((tool) => ("name" in tool ? tool.name : undefined)))
  return Promise.all(tools.map((tool) => ("execute" in tool ? definitionOf(tool) : tool)))
}

/** Validates one tool. Server tools have a `type`, and some have no name. */
function checkItem(item: unknown, index: number): void {
  const { name, type, execute } = (item ?? {}) as Readonly<Record<string, unknown>>
  if (isToolset(item))
    throw new InvalidOptionError(
      "tools",
      `tools[${index}] is a toolset. openConversation() runs no tools, so it takes tools and definitions only; openAgent() opens toolsets.`,
    )
  if (execute !== undefined) checkTool(item as Tool)
  else if (typeof name !== "string" && typeof type !== "string")
    throw new InvalidOptionError(
      "tools",
      `tools[${index}] must be a tool from defineTool(), or a definition with a name, not ${describe(item)}.`,
    )
}

export async function definitionOf(tool: Tool): Promise<ToolDefinition> {
  const { toolDefinition } = await import("../tools/definition/definition.ts") // loaded on demand, because it imports schema libraries
  return toolDefinition(tool)
}

export type RenderedParts = Pick<DecisionOf<"prompt-rendered">, "system" | "tools" | "context">

export interface PromptInput {
  readonly prompt: Prompt
  /** Prompt in the journal. It provides parts that the new one omits. */
  readonly current: RenderedParts | undefined
  readonly estimate: (text: string) => number
  /** Maximum tokens of all context texts together. */
  readonly contextLimit: number
}

export function renderPrompt({ prompt, current, estimate, contextLimit }: PromptInput): RenderedParts {
  const context =
    prompt.context === undefined
      ? (current?.context ?? "")
      : renderPreamble({ texts: prompt.context, estimate, limit: contextLimit })
  return normalizePrompt({
    system: prompt.system ?? current?.system ?? "",
    tools: prompt.tools ?? current?.tools ?? [],
    context,
  })
}

/** Throws if the system prompt or the tools cannot be sent in a request. */
export function checkPrompt({ system = "", tools = [] }: Prompt): void {
  const flaw = promptProblem(readable({ system, tools }))
  if (flaw) throw refused(flaw.path.startsWith("system") ? "system" : "tools", `${flaw.path}: ${flaw.message}`)
}

function readable(prompt: { readonly system: SystemPrompt; readonly tools: readonly ToolDefinition[] }) {
  try {
    return normalizePrompt(prompt)
  } catch (error) {
    throw refused("tools", `it is not plain JSON (${errorReason(error)})`)
  }
}

const refused = (option: "system" | "tools", why: string) =>
  new InvalidOptionError(option, `The option "${option}" cannot be used. ${why}. Nothing was changed.`)

export function isSamePrompt(a: RenderedParts, b: RenderedParts): boolean {
  return bytesOf(a) === bytesOf(b)
}

/** The parts that thinking is bound to: all except deferred tools that no message refers to. */
export function boundParts({ system, tools, context }: RenderedParts, referenced: ReadonlySet<string>): string {
  const offered = Array.isArray(tools) ? (tools as readonly ToolDefinition[]) : []
  const seen = offered.filter((tool) => !isDeferred(tool) || referenced.has(toolName(tool) ?? ""))
  return bytesOf({ system, tools: seen, context })
}

const bytesOf = ({ system, tools, context }: RenderedParts) => JSON.stringify({ system, tools, context })

/**
 * Normalizes a prompt: white space alone counts as no prompt, and a surrogate that was cut in half is replaced, because the API refuses it.
 */
function normalizePrompt<T extends { readonly system?: unknown }>(parts: T): T {
  const { system } = parts
  const isBlank = typeof system === "string" && system.trim() === ""
  return toWellFormed(asJournaled(isBlank ? { ...parts, system: "" } : parts))
}

/** A copy, as the journal would return it, so that later changes of the caller's objects do not affect requests. */
const asJournaled = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T

// Renders the system prompt, tools and context once and sends them unchanged. They are rendered again only at a boundary, where the cache
// is lost anyway, or when the caller replaces the prompt. Every change is recorded.

export interface PromptRendererDependencies {
  readonly record: ConversationRecord
  /** Prompt passed at opening. The journal's prompt provides omitted parts. */
  readonly prompt: Prompt
  /** Prompt if the journal has none yet. A resumed conversation keeps its own until the next boundary. */
  readonly first: Prompt
  readonly flags: Pick<FlagReader, "current">
  readonly window: Window
  /** Whether the model binds thinking to the prompt too, so that the API would refuse thinking after a change of the prompt. */
  readonly boundThinking: boolean
  /** Deferred tools, if any. */
  readonly deferral?: Deferral | undefined
  /** Returns the prompt after a boundary, when instruction files are read again. */
  readonly refresh?: (() => Promise<Prompt>) | undefined
}

export interface Deferral extends DeferralPlan {
  /** Whether tools can be deferred now. The `deferred-tools` flag is checked separately. */
  readonly isOn: () => boolean
  /** Whether the model supports references to tools. */
  readonly byReference: boolean
  /** Tools that arrive after opening. */
  readonly growth?: ToolGrowth
}

export class PromptRenderer {
  readonly #parts: PromptRendererDependencies
  #prompt: Prompt
  /** Parts that were refreshed at a boundary. */
  #refreshed: Prompt = {}
  /** Whether the requested prompt was compared with the one in the journal. */
  #isSettled = false
  #afterBoundary = false
  #isGapAnswered = false
  /** The client's last prompt, and as JSON. */
  readonly #followed = new Map<"system" | "tools", { readonly part: unknown; readonly json: string }>()
  /** Revision of the tools at the last rendering. */
  #revision = 0

  constructor(parts: PromptRendererDependencies) {
    this.#parts = parts
    this.#prompt = parts.prompt
    parts.record.events.on("entry", ({ entry }) => {
      if (!isBoundaryEntry(entry)) return
      this.#isSettled = false
      this.#afterBoundary = true
    })
  }

  /** Called after a rewind, when another prompt may be current. */
  compareAgain(): void {
    this.#isSettled = false
    this.#isGapAnswered = false
  }

  /**
   * Called after an undo: the prompt from before the boundary is sent again, byte for byte. Refreshed parts are discarded until the next
   * boundary.
   */
  forgetBoundary(): void {
    this.compareAgain()
    const isKept = ([key]: [string, unknown]) => !(key in this.#refreshed)
    this.#prompt = Object.fromEntries(Object.entries(this.#prompt).filter(isKept))
    this.#refreshed = {}
    this.#afterBoundary = false
  }

  async use(prompt: Prompt): Promise<void> {
    checkPrompt(prompt)
    this.#prompt = { ...this.#prompt, ...this.#refreshed, ...prompt }
    this.#refreshed = {}
    await this.#render("changed")
  }

  /** Applies the prompt that a client sends with its messages. It takes precedence. */
  async follow(prompt: Prompt): Promise<void> {
    const changed = (["system", "tools"] as const).filter((name) => this.#differs(name, prompt[name]))
    if (changed.length === 0 && this.#isSettled) return
    this.#prompt = { ...this.#prompt, ...prompt }
    await this.#render(this.#parts.record.views.context.prompt ? "changed" : "start")
  }

  /** Whether a part of the client's prompt differs from the last one, which it replaces. Clients often send the same objects again. */
  #differs(name: "system" | "tools", part: unknown): boolean {
    const last = this.#followed.get(name)
    if (part === undefined || part === last?.part) return false
    const json = JSON.stringify(part)
    this.#followed.set(name, { part, json })
    return json !== last?.json
  }

  async settle(): Promise<void> {
    if (this.#isSettled && this.#revision === this.#toolRevision()) return
    const { refresh, record } = this.#parts
    await this.#answerGap()
    if (this.#afterBoundary && refresh) {
      const fresh = await refresh()
      checkPrompt(fresh)
      this.#refreshed = { ...this.#refreshed, ...fresh }
    }
    const why = this.#afterBoundary ? "boundary" : "changed"
    await this.#render(record.views.context.prompt ? why : "start")
  }

  #toolRevision(): number {
    return this.#parts.deferral?.growth?.revision() ?? 0
  }

  async #render(why: DecisionOf<"prompt-rendered">["why"]): Promise<void> {
    const { record, flags } = this.#parts
    const { context, estimator } = record.views
    const current = context.prompt
    const wanted = { ...this.#prompt, ...this.#refreshed }
    const prompt = current ? wanted : { ...this.#parts.first, ...wanted }
    const declared = await this.#declared(prompt.tools)
    const rendered = renderPrompt({
      prompt: { ...prompt, ...declared },
      current,
      estimate: (text) => estimator.text(text),
      contextLimit: flags.current.figures["instructions-limit"],
    })
    this.#isSettled = true
    this.#afterBoundary = false
    if (current && isSamePrompt(rendered, current)) return
    try {
      const [entry] = await record.decide([{ type: "strata", subtype: "prompt-rendered", why, ...rendered }])
      await record.decide([record.session.draft(record.views.context, { prompt: entry!.uuid })])
      const { referenced } = loadedTools(context.storedMessages())
      if (current && boundParts(rendered, referenced) !== boundParts(current, referenced)) await this.#dropThinking()
    } catch (error) {
      this.compareAgain() // otherwise the next request would have no prompt, or an old one
      throw error
    }
  }

  /** Chooses the tools that the prompt declares. Empty if the journal's list continues. */
  async #declared(given: Prompt["tools"]): Promise<Pick<Prompt, "tools">> {
    const { deferral, flags, record, window } = this.#parts
    const { context, estimator } = record.views
    const { tools: rendered } = context.prompt ?? {}
    const current = Array.isArray(rendered) ? (rendered as readonly ToolDefinition[]) : []
    const loaded = loadedTools(context.storedMessages())
    if (!deferral) return given || current.some(isDeferred) ? { tools: withLoaded(given ?? current, loaded) } : {}
    if (!given) return {}
    const { on, figures } = flags.current
    this.#revision = this.#toolRevision()
    const isFresh = context.prompt === undefined || this.#afterBoundary
    const { growth } = deferral
    const tools = declareTools({
      tools: given,
      plan: deferral,
      isEnabled: on["deferred-tools"] && deferral.isOn(),
      byReference: deferral.byReference,
      limit: Math.min((window.current.window * figures["deferred-tools-share"]) / 100, figures["deferred-tools-limit"]),
      estimate: createEstimator(estimator.family).text, // not the calibrated estimator, so that the decision is stable
      current,
      loaded,
      ...(growth ? { growth: { late: await growth.definitions(), isExpected: growth.isExpected, isFresh } } : {}),
    })
    return { tools }
  }

  /** Drops thinking after a damaged line: it is bound to everything before it, so the API would refuse it. */
  async #answerGap(): Promise<void> {
    const { record, boundThinking } = this.#parts
    if (this.#isGapAnswered || !boundThinking || !record.journal.opening.hasNewGap) return
    await record.decide([{ type: "strata", subtype: "thinking-dropped", why: "something before it is damaged" }])
    this.#isGapAnswered = true
  }

  async #dropThinking(): Promise<void> {
    const { record, boundThinking } = this.#parts
    const thinks = record.views.context
      .storedMessages()
      .some((message) => message.type === "assistant" && contentOf(message).some(isThinking))
    if (boundThinking && thinks)
      await record.decide([{ type: "strata", subtype: "thinking-dropped", why: THINKING_DROP_REASONS.promptChanged }])
  }
}

// Facts that a model reports itself, as settings: those missing in the model table, and features that its adapter does not support.

/** Merges a model's facts into the settings. The user's settings take precedence. */
export function modelSettings({ name, facts: own, omits = [] }: Model, known: Settings["models"]): Settings["models"] {
  const lookup = findModel(name, known)
  const { facts } = lookup
  const isLearned =
    !lookup.known && (FACTS.some((fact) => own[fact] !== facts[fact]) || !isSame(own.accepts, facts.accepts))
  const learned = isLearned ? factsIn(own) : {}
  // otherwise a layer would rely on a server that never gets the request
  const lost = omits.filter((feature) => (isLearned ? own : facts).accepts[feature])
  if (lost.length === 0 && Object.keys(learned).length === 0) return {}
  const given = known[facts.id] ?? known[name]
  const accepts = {
    ...(isLearned ? own.accepts : {}),
    ...given?.accepts,
    ...Object.fromEntries(lost.map((feature) => [feature, false])),
  }
  return { [facts.id]: { ...learned, ...given, ...(Object.keys(accepts).length > 0 ? { accepts } : {}) } }
}

const FACTS = ["window", "maxOutput", "minCacheable", "price"] as const

const isSame = (a: ModelAccepts, b: ModelAccepts): boolean =>
  (Object.keys(a) as (keyof ModelAccepts)[]).every((feature) => a[feature] === b[feature])

function factsIn({ family, window, maxOutput, minCacheable, price }: ModelFacts) {
  return { family, window, maxOutput, minCacheable, ...(price ? { price } : {}) }
}
