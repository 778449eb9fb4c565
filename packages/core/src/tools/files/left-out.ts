/**
 * What a search must not show: files that a rule for Read denies or asks about, and those that reading would ask for though the search
 * itself needed no yes. The result says how many there were.
 */
import type { StepJudgement, ToolContext } from "../tool.ts"

export class LeftOut {
  readonly #judgeStep: ToolContext["judgeStep"]
  readonly #known = new Map<string, boolean>()
  /** Someone said yes to this search, also outside the project. */
  readonly #isAgreed: boolean

  constructor({ judgeStep }: Pick<ToolContext, "judgeStep">, place: string) {
    this.#judgeStep = judgeStep
    this.#isAgreed = this.#judge(place)?.verdict === "ask"
  }

  has(path: string): boolean {
    const known = this.#known.get(path)
    if (known !== undefined) return known
    const judgement = this.#judge(path)
    const isLeftOut =
      judgement?.verdict === "deny" || (judgement?.verdict === "ask" && (judgement.byRule === true || !this.#isAgreed))
    this.#known.set(path, isLeftOut)
    return isLeftOut
  }

  #judge(path: string): StepJudgement | undefined {
    return this.#judgeStep?.({ kind: "read", summary: `read ${path}`, paths: [path] })
  }

  /** For the end of the result. */
  notes(): readonly string[] {
    const count = [...this.#known.values()].filter(Boolean).length
    return count === 0
      ? []
      : [`[${count === 1 ? "1 file was" : `${count} files were`} left out: permission rules say so.]`]
  }
}
