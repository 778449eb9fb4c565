/** What a search must not show: files that a rule for Read denies or asks about. The result says how many there were. */
import type { ToolContext } from "../tool.ts"

export class LeftOut {
  readonly #judgeStep: ToolContext["judgeStep"]
  readonly #known = new Map<string, boolean>()

  constructor({ judgeStep }: Pick<ToolContext, "judgeStep">) {
    this.#judgeStep = judgeStep
  }

  has(path: string): boolean {
    const known = this.#known.get(path)
    if (known !== undefined) return known
    const judgement = this.#judgeStep?.({ kind: "read", summary: `read ${path}`, paths: [path] })
    const isLeftOut = judgement?.verdict === "deny" || (judgement?.verdict === "ask" && judgement.byRule === true)
    this.#known.set(path, isLeftOut)
    return isLeftOut
  }

  /** For the end of the result. */
  notes(): readonly string[] {
    const count = [...this.#known.values()].filter(Boolean).length
    return count === 0
      ? []
      : [`[${count === 1 ? "1 file was" : `${count} files were`} left out: permission rules say so.]`]
  }
}
