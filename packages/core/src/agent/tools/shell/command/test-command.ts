/** Analyzes `test`, `[` and `[[`: which files they check. */

import { type AnalysisContext, type CommandEffects, filesOf, readOnly, unknownEffects } from "./command-effects.ts"
import type { ExpandedWord } from "./expanded-word.ts"

const FILE_TESTS = /^-[abcdefghkLpNrsStuwxOG]$/
const TEXT_TESTS = /^(?:-[nzo]|!|\(|\)|=|==|!=|<|>|-(?:eq|ne|lt|le|gt|ge|nt|ot|ef|a|o))$/
const NUMERIC = /^-(?:eq|ne|lt|le|gt|ge)$/

/** Analyzes a test. Operands of file tests are reads. `-v` and `-R` evaluate their operand, and are not supported. */
export function test(args: readonly ExpandedWord[], place: AnalysisContext): CommandEffects {
  const reads = args.flatMap((field, at) => {
    const before = args[at - 1]?.text
    const isOperand = before !== undefined && (FILE_TESTS.test(before) || /^-(?:nt|ot|ef)$/.test(before))
    const comesBefore = /^-(?:nt|ot|ef)$/.test(args[at + 1]?.text ?? "")
    return isOperand || comesBefore ? filesOf(field, place) : []
  })
  const operators = args.filter(({ text }) => text?.startsWith("-") && !/^-\d/.test(text))
  const isKnown = operators.every(({ text }) => FILE_TESTS.test(text!) || TEXT_TESTS.test(text!))
  // some shells evaluate operands of numeric comparisons, which can run a command
  const areNumbers = args.every(
    ({ text }, at) =>
      !NUMERIC.test(text ?? "") || [args[at - 1], args[at + 1]].every((side) => /^-?\d+$/.test(side?.text ?? "0")),
  )
  return isKnown && areNumbers ? readOnly({ reads }) : unknownEffects("has a test that can evaluate its operand")
}
