/** Conditions and arithmetic of the shell's own: `[[ … ]]` and `(( … ))`. */
import { forEachChild, type SyntaxNode, type Word } from "unbash"
import { simpleCommand } from "./facts.ts"
import { expandToOne, type Field, known } from "./fields.ts"
import { CALCULATES } from "./findings.ts"
import { runCompared, runInside } from "./inside-words.ts"
import type { ShellState } from "./shell-state.ts"
import { test } from "./test-command.ts"

const NUMERIC = /^-(?:eq|ne|lt|le|gt|ge)$/

export function runCondition(node: SyntaxNode, shell: ShellState): void {
  if (node.type === "TestUnary") {
    runInside(node.operand, shell)
    judgeTest([known(node.operator), expandToOne(node.operand, shell.surroundings)], shell)
  } else if (node.type === "TestBinary") {
    const { left, operator, right } = node
    for (const side of [left, right]) runCompared(side, shell)
    const [before, after] = [sideOf(left, shell), sideOf(right, shell)]
    const areNumbers = [before, after].every(({ text }) => /^-?\d+$/.test(text ?? ""))
    if (NUMERIC.test(operator) && !areNumbers) shell.findings.addHidden(CALCULATES)
    else judgeTest([before, known(operator === "=~" ? "=" : operator), after], shell)
  } else forEachChild(node, (child) => runCondition(child, shell.deeper()))
}

/** A pattern is not matched with files here, so any text serves in its place. */
function sideOf(word: Word, shell: ShellState): Field {
  const isPattern = word.parts?.some(({ type }) => type === "Glob" || type === "ExtendedGlob")
  return isPattern ? known("x") : expandToOne(word, shell.surroundings)
}

function judgeTest(fields: readonly Field[], shell: ShellState): void {
  const judged = test(fields, shell.place())
  const isClear = judged.state === "understood"
  if (!isClear) shell.findings.addUnknown(`[[: ${judged.why}.`)
  shell.findings.addCommand({
    ...simpleCommand(["[[", ...fields.map(({ text }) => text)]),
    isReadOnly: isClear,
    uses: { reads: isClear ? judged.reads : [], writes: [] },
  })
}

/** Names in arithmetic are evaluated again, and a value may hold a command. The body of a loop is not part of it. */
export function runArithmetic(node: SyntaxNode, shell: ShellState): void {
  shell.findings.addHidden(CALCULATES)
  forEachChild(node, (child) => {
    if (child.type !== "CompoundList") runInside(child, shell.deeper())
  })
}
