/**
 * Merges several responses into one, for a program whose model called a Strata tool in between. Calls of that tool are omitted, parts get
 * unique ids, and the merged response has one end with the output tokens of all rounds.
 */
import type { CallOptions, FinishPart, StreamPart } from "@strata/core/ai-sdk"

type Usage = FinishPart["usage"]
type HeldText = Extract<StreamPart, { type: `text-${string}` }>

export interface MergedPartsOptions {
  /** A tool of Strata. */
  readonly hiddenTool: string | undefined
  readonly params: Pick<CallOptions, "responseFormat">
}

export class MergedParts {
  readonly #hiddenTool: string | undefined
  readonly #isJson: boolean
  readonly #hiddenCalls = new Set<string>()
  /** Kinds of parts that a stream contains once. */
  readonly #once = new Set<string>()
  readonly #usedIds = new Set<string>()
  #ids = new Map<string, string>()
  #raw: StreamPart | undefined
  #held: HeldText[] | undefined
  #finish: FinishPart | undefined
  #asked = false
  #callsOfProgram = 0
  #usage: Usage | undefined

  constructor({ hiddenTool, params }: MergedPartsOptions) {
    this.#hiddenTool = hiddenTool
    this.#isJson = hiddenTool !== undefined && params.responseFormat?.type === "json"
  }

  /** The parts that the program receives for a part of the model. */
  take(part: StreamPart): readonly StreamPart[] {
    if (part.type === "finish") {
      this.#finish = part
      return []
    }
    if (part.type === "raw" && this.#hiddenTool !== undefined) {
      const before = this.#releaseRaw()
      this.#raw = part // it precedes the parts that were parsed from it
      return before
    }
    if (this.#isHidden(part)) {
      this.#raw = undefined
      return []
    }
    if (part.type === "error") this.#raw = undefined // it may be the start of a call to Strata's tool
    return [...this.#releaseRaw(), ...this.#relay(part)]
  }

  /** Starts the next round, which continues a response that called only Strata's tool. */
  nextRound(): void {
    this.#usage = this.#total()
    this.#finish = undefined
    this.#raw = undefined
    this.#held = undefined // text before a call is not part of the JSON
    this.#ids = new Map()
  }

  /** Ends the last round. */
  end(): readonly StreamPart[] {
    const held: readonly StreamPart[] = this.#held ?? []
    this.#held = undefined
    if (!this.#finish) return held
    return [
      ...this.#releaseRaw(),
      ...held,
      { ...this.#finish, finishReason: this.#reason(this.#finish), usage: this.#total()! },
    ]
  }

  /** If the program sees no calls, the response must not end with `tool-calls`. */
  #reason({ finishReason }: FinishPart): FinishPart["finishReason"] {
    const isOurs = this.#asked && this.#callsOfProgram === 0
    return isOurs && finishReason.unified === "tool-calls" ? { unified: "stop", raw: finishReason.raw } : finishReason
  }

  #total(): Usage | undefined {
    return this.#finish && addUsage(this.#usage, this.#finish.usage)
  }

  #releaseRaw(): readonly StreamPart[] {
    const raw = this.#raw
    this.#raw = undefined
    return raw ? [raw] : []
  }

  #isHidden(part: StreamPart): boolean {
    switch (part.type) {
      case "tool-input-start":
        return this.#isOfHidden(part.id, part.toolName)
      case "tool-call":
        return this.#isOfHidden(part.toolCallId, part.toolName)
      case "tool-input-delta":
      case "tool-input-end":
        return this.#hiddenCalls.has(part.id)
      case "tool-result":
      case "tool-approval-request":
        return this.#hiddenCalls.has(part.toolCallId)
      default:
        return false
    }
  }

  #isOfHidden(id: string, name: string): boolean {
    this.#asked ||= name === this.#hiddenTool
    if (name === this.#hiddenTool) this.#hiddenCalls.add(id)
    else this.#hiddenCalls.delete(id) // some providers restart their numbering with each response
    return name === this.#hiddenTool
  }

  #relay(part: StreamPart): readonly StreamPart[] {
    switch (part.type) {
      case "stream-start":
      case "response-metadata":
        return this.#first(part.type, part)
      case "custom":
        return part.kind.endsWith(".message_start") ? this.#first(part.kind, part) : [part]
      case "text-start":
      case "text-delta":
      case "text-end":
        return this.#text({ ...part, id: this.#id("text", part.id) })
      case "reasoning-start":
      case "reasoning-delta":
      case "reasoning-end":
        return [{ ...part, id: this.#id("reasoning", part.id) }]
      case "tool-call":
        if (!part.providerExecuted) this.#callsOfProgram++
        return [part]
      default:
        return [part]
    }
  }

  #first(name: string, part: StreamPart): readonly StreamPart[] {
    if (this.#once.has(name)) return []
    this.#once.add(name)
    return [part]
  }

  /** Makes the ids of parts unique, because providers number the parts of each response separately. */
  #id(kind: string, id: string): string {
    const key = `${kind} ${id}`
    const known = this.#ids.get(key)
    if (known !== undefined) return known
    let own = id
    for (let round = 2; this.#usedIds.has(`${kind} ${own}`); round++) own = `${id}-${round}`
    this.#usedIds.add(`${kind} ${own}`)
    this.#ids.set(key, own)
    return own
  }

  /** If the program expects JSON, holds other text back until it is clear that no call follows. */
  #text(part: HeldText): readonly StreamPart[] {
    if (!this.#isJson || this.#held === undefined) {
      if (!this.#isJson || part.type !== "text-start") return [part]
      this.#held = [part]
      return []
    }
    this.#held.push(part)
    const text = this.#held.map((each) => (each.type === "text-delta" ? each.delta : "")).join("")
    if (!/^\s*[[{"\d]/.test(text)) return []
    const held = this.#held
    this.#held = undefined
    return held
  }
}

/** The output tokens of both, and the input tokens of the last. */
function addUsage(before: Usage | undefined, last: Usage): Usage {
  if (!before) return last
  const sum = (field: keyof Usage["outputTokens"]) => plus(before.outputTokens[field], last.outputTokens[field])
  return { ...last, outputTokens: { total: sum("total"), text: sum("text"), reasoning: sum("reasoning") } }
}

const plus = (a: number | undefined, b: number | undefined) => (a === undefined ? b : b === undefined ? a : a + b)
