/** What a word does before a command gets it: substitutions run commands, some expansions evaluate text or set variables. */
import { forEachChild, type SyntaxNode, type Word } from "unbash"
import { type Field, fieldOf, mayHoldSecret } from "./fields.ts"
import { CALCULATES, TOO_DEEP } from "./findings.ts"
import type { ShellState } from "./shell-state.ts"

/** Runs the substitutions in a word, also in strings, parameters and arithmetic. */
export function runInside(node: SyntaxNode, shell: ShellState): void {
  const { findings } = shell
  if (shell.isTooDeep) {
    findings.addHidden(TOO_DEEP)
    return
  }
  switch (node.type) {
    case "CommandExpansion":
    case "ProcessSubstitution":
    case "ArithmeticCommandExpansion":
      shell.mark("substitution", node)
      if (node.script) shell.line.runScript(node.script, shell.subshell().deeper())
      else findings.addHidden("It has a substitution that cannot be parsed.")
      return
    case "ArithmeticExpansion":
      // a name in it is evaluated again, and its value may hold a command
      if (/[A-Za-z_]/.test(node.text)) findings.addHidden(CALCULATES)
      break
    case "ParameterExpansion":
      checkParameter(node, shell)
      break
    case "AnsiCQuoted":
      if (node.text.includes("\\")) shell.mark("escape", node)
      break
  }
  forEachChild(node, (child) => runInside(child, shell.deeper()))
}

function checkParameter(node: Extract<SyntaxNode, { type: "ParameterExpansion" }>, shell: ShellState): void {
  const { operation, prefix, index, text, parameter } = node
  if (operation?.type === "Default" && operation.operator.endsWith("=")) shell.checkSet(parameter)
  const isEvaluated =
    operation?.type === "Transform" || operation?.type === "Unknown" || operation?.type === "Slice" || prefix === "!"
  const isCounted = index !== undefined && !/^(?:\d+|[@*])$/.test(index.value)
  if (isEvaluated || isCounted) shell.findings.addHidden(`It evaluates ${text}.`)
}

/** What a word is compared with tells its value, piece by piece. */
export function runCompared(word: Word, shell: ShellState): void {
  runInside(word, shell)
  for (const part of word.parts ?? []) {
    const isPattern = part.type === "Glob" || part.type === "ExtendedGlob"
    if (!isPattern || part.text.includes("$")) checkShown(fieldOf(part, shell.surroundings), shell)
  }
}

/** What a command gets as its input, it may print. */
export function checkShown(field: Field, { findings }: ShellState): void {
  if (mayHoldSecret(field)) findings.addUnknown("It may show a variable of the environment.")
}
