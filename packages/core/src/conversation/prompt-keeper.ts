/**
 * CACHE-2: keeps what stands around the messages of every request. It is rendered once and then sent as it was; anew only at a boundary,
 * where the cache is lost anyway, or because someone asked for another one. Each time is recorded, and bytes that are equal change nothing.
 */
import type { FlagReader } from "../base/flags.ts"
import type { DecisionDraft, DecisionOf, Draft, Entry } from "../journal/entries.ts"
import { isThinking } from "../messages/blocks.ts"
import { contentOf, type Uuid } from "../messages/messages.ts"
import type { Views } from "../views/views.ts"
import { isSamePrompt, type Prompt, renderPrompt } from "./prompt.ts"

export interface PromptKeeperParts {
  /** What is given at opening counts; what is not given goes on as the journal has it. */
  readonly prompt: Prompt
  readonly views: () => Views
  readonly flags: Pick<FlagReader, "current">
  /** Thinking is bound to the prompt too: with another prompt it would be refused (CACHE-6). */
  readonly boundThinking: boolean
  readonly append: (drafts: readonly Draft[]) => Promise<readonly Entry[]>
  /** What listing and resuming need, with the prompt that is in force now. */
  readonly sessionFacts: (prompt: Uuid) => DecisionDraft
  /** What the prompt is to be behind a boundary: instruction files are read again. */
  readonly refresh?: () => Promise<Prompt>
}

export class PromptKeeper {
  readonly #parts: PromptKeeperParts
  #prompt: Prompt
  /** Whether what is wanted was held against what stands in the journal. */
  #isSettled = false
  #afterBoundary = false

  constructor(parts: PromptKeeperParts) {
    this.#parts = parts
    this.#prompt = parts.prompt
  }

  /** Behind a boundary it may be another one. */
  boundary(): void {
    this.#isSettled = false
    this.#afterBoundary = true
  }

  /** The conversation went back to where another prompt may have stood. */
  compareAgain(): void {
    this.#isSettled = false
  }

  async use(prompt: Prompt): Promise<void> {
    this.#prompt = { ...this.#prompt, ...prompt }
    await this.#render("changed")
  }

  async settle(): Promise<void> {
    if (this.#isSettled) return
    const { refresh, views } = this.#parts
    if (this.#afterBoundary && refresh) this.#prompt = { ...this.#prompt, ...(await refresh()) }
    const why = this.#afterBoundary ? "boundary" : "changed"
    await this.#render(views().context.prompt ? why : "start")
  }

  async #render(why: DecisionOf<"prompt-rendered">["why"]): Promise<void> {
    const { views, flags, append, sessionFacts } = this.#parts
    const standing = views().context.prompt
    const rendered = renderPrompt({
      prompt: this.#prompt,
      standing,
      estimate: (text) => views().estimator.text(text),
      contextLimit: flags.current.figures["instructions-limit"],
    })
    this.#isSettled = true
    this.#afterBoundary = false
    if (standing && isSamePrompt(rendered, standing)) return
    const [entry] = await append([{ type: "strata", subtype: "prompt-rendered", why, ...rendered }])
    await append([sessionFacts(entry!.uuid)])
    if (standing) await this.#dropThinking()
  }

  async #dropThinking(): Promise<void> {
    const { views, boundThinking, append } = this.#parts
    const thinks = views()
      .context.storedMessages()
      .some((message) => message.type === "assistant" && contentOf(message).some(isThinking))
    if (boundThinking && thinks)
      await append([{ type: "strata", subtype: "thinking-dropped", why: "the prompt before it has changed" }])
  }
}
