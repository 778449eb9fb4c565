/**
 * Keeps what surrounds the messages of every request: system prompt, tools, context. It is rendered once and then sent unchanged. It is
 * rendered again only at a boundary, where the cache is lost anyway, or when the caller asks for another prompt. Every change is recorded.
 */

import { type DecisionOf, isBoundaryEntry } from "../journal/entries.ts"
import { isThinking } from "../messages/blocks.ts"
import { contentOf } from "../messages/messages.ts"
import type { ToolDefinition } from "../messages/request.ts"
import { isDeferred } from "../messages/tool-references.ts"
import type { FlagReader } from "../settings/flags.ts"
import { createEstimator } from "../tokens/estimate.ts"
import { type DeferralPlan, declareTools, withLoaded } from "../tools/deferred/declare.ts"
import type { ToolGrowth } from "../tools/deferred/deferred-tools.ts"
import { WHY_THINKING_GOES } from "../views/compaction-parts.ts"
import { loadedTools } from "../views/context/loaded-tools.ts"
import { boundParts, checkPrompt, isSamePrompt, type Prompt, renderPrompt } from "./prompt.ts"
import type { ConversationRecord } from "./record.ts"
import type { Window } from "./window.ts"

export interface PromptKeeperParts {
  readonly record: ConversationRecord
  /** What the caller gave at opening. For anything left out, the journal's prompt continues. */
  readonly prompt: Prompt
  /** Used where the journal has no prompt yet. A resumed conversation keeps its own until the next boundary. */
  readonly first: Prompt
  readonly flags: Pick<FlagReader, "current">
  readonly window: Window
  /** The model binds thinking to the prompt too: after a change of the prompt the API would refuse it. */
  readonly boundThinking: boolean
  /** The tools that may wait to be loaded, if any. */
  readonly deferral?: Deferral | undefined
  /** The prompt after a boundary: instruction files are read again. */
  readonly refresh?: (() => Promise<Prompt>) | undefined
}

export interface Deferral extends DeferralPlan {
  /** Whether tools may wait now, apart from the switch. */
  readonly isOn: () => boolean
  /** Whether the model knows references to tools. */
  readonly byReference: boolean
  /** Tools that come after the opening. */
  readonly growth?: ToolGrowth
}

export class PromptKeeper {
  readonly #parts: PromptKeeperParts
  #prompt: Prompt
  /** What was read again at a boundary. */
  #refreshed: Prompt = {}
  /** Whether the wanted prompt was compared with the one in the journal. */
  #isSettled = false
  #afterBoundary = false
  #isGapAnswered = false
  /** What the caller sent last, as texts. */
  readonly #followed = new Map<"system" | "tools", string>()
  /** Of the tools, at the last rendering. */
  #revision = 0

  constructor(parts: PromptKeeperParts) {
    this.#parts = parts
    this.#prompt = parts.prompt
    parts.record.events.on("entry", ({ entry }) => {
      if (!isBoundaryEntry(entry)) return
      this.#isSettled = false
      this.#afterBoundary = true
    })
  }

  /** After a rewind, another prompt may be the current one. */
  compareAgain(): void {
    this.#isSettled = false
    this.#isGapAnswered = false
  }

  /** After an undo the prompt from before the boundary is sent again, byte for byte. What was read again at the boundary waits for the next one. */
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

  /** What a caller sends with its messages. It wins, whatever we think of it. */
  async follow(prompt: Prompt): Promise<void> {
    const isSame = (["system", "tools"] as const).every(
      (part) => prompt[part] === undefined || JSON.stringify(prompt[part]) === this.#followed.get(part),
    )
    if (isSame && this.#isSettled) return
    for (const part of ["system", "tools"] as const)
      if (prompt[part] !== undefined) this.#followed.set(part, JSON.stringify(prompt[part]))
    this.#prompt = { ...this.#prompt, ...prompt }
    await this.#render(this.#parts.record.views.context.prompt ? "changed" : "start")
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
      this.compareAgain() // else the next request would have no prompt, or an old one
      throw error
    }
  }

  /** Which of the tools the prompt declares. Empty where the journal's continue as they are. */
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
      isOn: on["deferred-tools"] && deferral.isOn(),
      byReference: deferral.byReference,
      limit: Math.min((window.current.window * figures["deferred-tools-share"]) / 100, figures["deferred-tools-limit"]),
      estimate: createEstimator(estimator.family).text, // what was learnt meanwhile must not change the decision
      current,
      loaded,
      ...(growth ? { growth: { late: await growth.definitions(), isExpected: growth.isExpected, isFresh } } : {}),
    })
    return { tools }
  }

  /** Thinking is bound to what comes before it. Where a damaged line took something away, the API would refuse the thinking after it. */
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
      await record.decide([{ type: "strata", subtype: "thinking-dropped", why: WHY_THINKING_GOES.promptChanged }])
  }
}
