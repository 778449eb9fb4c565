/**
 * Omits files from search results: those for which a Read rule denies or asks, and those whose reading would need approval although the
 * search itself did not. The result states their number.
 */
import type { StepJudgement, ToolContext } from "../tool.ts"

export class OmittedFiles {
  readonly #judgeStep: ToolContext["judgeStep"]
  readonly #known = new Map<string, boolean>()
  /** Whether the search was approved, including one outside the project. */
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

  /** Notes for the end of the result. */
  notes(): readonly string[] {
    const count = [...this.#known.values()].filter(Boolean).length
    return count === 0
      ? []
      : [`[${count === 1 ? "1 file was" : `${count} files were`} left out: permission rules say so.]`]
  }
}
