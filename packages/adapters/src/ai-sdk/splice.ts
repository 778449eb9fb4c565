/**
 * Several answers as one: what the program sees where its model asked a tool of ours in between. The calls of that tool are left out, parts
 * have ids of their own, and one end has the output of all rounds.
 */
import type { CallOptions, FinishPart, StreamPart } from "@strata/core/ai-sdk"

type Usage = FinishPart["usage"]
type Held = Extract<StreamPart, { type: `text-${string}` }>

export interface SpliceOptions {
  /** A tool of ours. */
  readonly hiddenTool: string | undefined
  readonly params: Pick<CallOptions, "responseFormat">
}

export class Splice {
  readonly #hiddenTool: string | undefined
  readonly #isJson: boolean
  readonly #hiddenCalls = new Set<string>()
  /** What a stream has once. */
  readonly #once = new Set<string>()
  readonly #usedIds = new Set<string>()
  #ids = new Map<string, string>()
  #raw: StreamPart | undefined
  #held: Held[] | undefined
  #finish: FinishPart | undefined
  #asked = false
  #callsOfProgram = 0
  #usage: Usage | undefined

  constructor({ hiddenTool, params }: SpliceOptions) {
    this.#hiddenTool = hiddenTool
    this.#isJson = hiddenTool !== undefined && params.responseFormat?.type === "json"
  }

  /** What the program sees of a part. */
  take(part: StreamPart): readonly StreamPart[] {
    if (part.type === "finish") {
      this.#finish = part
      return []
    }
    if (part.type === "raw" && this.#hiddenTool !== undefined) {
      const before = this.#released()
      this.#raw = part // it comes before the parts that were read from it
      return before
    }
    if (this.#isHidden(part)) {
      this.#raw = undefined
      return []
    }
    if (part.type === "error") this.#raw = undefined // it may be the begin of a call of ours
    return [...this.#released(), ...this.#seen(part)]
  }

  /** The round asked our tool: the next one continues it. */
  nextRound(): void {
    this.#usage = this.#total()
    this.#finish = undefined
    this.#raw = undefined
    this.#held = undefined // words before a call are no part of the JSON
    this.#ids = new Map()
  }

  /** The last round is over. */
  end(): readonly StreamPart[] {
    const held: readonly StreamPart[] = this.#held ?? []
    this.#held = undefined
    if (!this.#finish) return held
    return [
      ...this.#released(),
      ...held,
      { ...this.#finish, finishReason: this.#reason(this.#finish), usage: this.#total()! },
    ]
  }

  /** An answer without calls that the program sees did not end with calls. */
  #reason({ finishReason }: FinishPart): FinishPart["finishReason"] {
    const isOurs = this.#asked && this.#callsOfProgram === 0
    return isOurs && finishReason.unified === "tool-calls" ? { unified: "stop", raw: finishReason.raw } : finishReason
  }

  #total(): Usage | undefined {
    return this.#finish && added(this.#usage, this.#finish.usage)
  }

  #released(): readonly StreamPart[] {
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
    else this.#hiddenCalls.delete(id) // some providers begin to count again with each answer
    return name === this.#hiddenTool
  }

  #seen(part: StreamPart): readonly StreamPart[] {
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

  /** Providers count the parts of an answer, and begin again with the next. */
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

  /** Where the program wants JSON, any other text is held until it is known that no call follows it. */
  #text(part: Held): readonly StreamPart[] {
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

/** The output of both, and the input of the last. */
function added(before: Usage | undefined, last: Usage): Usage {
  if (!before) return last
  const sum = (field: keyof Usage["outputTokens"]) => plus(before.outputTokens[field], last.outputTokens[field])
  return { ...last, outputTokens: { total: sum("total"), text: sum("text"), reasoning: sum("reasoning") } }
}

const plus = (a: number | undefined, b: number | undefined) => (a === undefined ? b : b === undefined ? a : a + b)
