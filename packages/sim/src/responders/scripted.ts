/** Answers from a list, one per request. For tests that need an exact answer at an exact moment. */

import type { Answer, Responder, ResponderTurn } from "../responder.ts"

/** An answer, a plain text, or a function that returns one of the two. */
export type ScriptedTurn = Answer | string | ((turn: ResponderTurn) => Answer | string | Promise<Answer | string>)

export interface ScriptOptions {
  /** The behavior after the last turn. Default: `end`, a sentence that reports the end. */
  readonly afterLast?: "end" | "repeat" | "fail"
}

export class ScriptEnded extends Error {
  constructor(turns: number) {
    super(
      `The script has ${turns} turn${turns === 1 ? "" : "s"} and was asked for one more. Add a turn, or set afterLast.`,
    )
    this.name = "ScriptEnded"
  }
}

/**
 * ```ts
 * scriptedResponder([
 *   { content: [{ type: "tool_use", name: "Read", input: { file_path: "a.ts" } }] },
 *   "That is all.",
 * ])
 * ```
 */
export function scriptedResponder(
  turns: readonly ScriptedTurn[],
  { afterLast = "end" }: ScriptOptions = {},
): Responder {
  let played = 0
  return {
    name: "scripted",
    async answer(turn) {
      const next = turns[played] ?? (afterLast === "repeat" ? turns.at(-1) : undefined)
      if (next === undefined && afterLast === "fail") throw new ScriptEnded(turns.length)
      played++
      const given = typeof next === "function" ? await next(turn) : (next ?? "The script ends here.")
      return typeof given === "string" ? { content: [{ type: "text", text: given }] } : given
    },
  }
}
