/**
 * Goes through a parsed command line in the order bash would, with what is known of directory and variables, and collects every command
 * that could run. Both branches of a condition count. What cannot be known becomes a command without a name.
 */
import { forEachChild, type ParsedScript, type Redirection, type Statement, type SyntaxNode, type Word } from "unbash"
import { simpleCommand } from "./facts.ts"
import { expandToOne, expandWord, type Field, known, type Variable } from "./fields.ts"
import { CALCULATES, Findings, TOO_DEEP } from "./findings.ts"
import { runCompared, runInside } from "./inside-words.ts"
import { countAssignments, movesDirectory } from "./look-ahead.ts"
import { parseScript } from "./parse-script.ts"
import { mayFail, redirect } from "./redirections.ts"
import { type Piped, runCommand } from "./run-command.ts"
import { type LineSurroundings, ShellState } from "./shell-state.ts"
import { test } from "./test-command.ts"

const MOST_ROUNDS = 50 // of one `for` loop

type Node<Type extends SyntaxNode["type"]> = Extract<SyntaxNode, { type: Type }>

export function walkLine(text: string, around: LineSurroundings): Findings {
  const findings = new Findings()
  const script = parseScript(text, { findings, grammar: around.grammar })
  if (!script) return findings
  const assignments = countAssignments(script)
  const line = { around, findings, assignments, mayMakeLinks: false, runScript }
  runScript(script, ShellState.atStartOf(line))
  return findings
}

function runScript({ errors, source, commands }: ParsedScript, shell: ShellState): void {
  const error = errors?.[0]
  if (error) shell.findings.addHidden(`It cannot be parsed: ${error.message}.`)
  if (source !== undefined) shell.stopMarking() // positions are those of its own text
  runStatements(commands, shell)
}

function runStatements(statements: readonly Statement[], shell: ShellState): void {
  const { findings } = shell
  for (const { command, background, end } of statements) {
    if (findings.isFull) return
    if (background) {
      shell.mark("background", { pos: end - 1, end })
      findings.changesNothing = false
      run(command, shell.subshell())
    } else run(command, shell)
  }
}

/** Answers what the next command of a pipe gets. */
function run(node: SyntaxNode, shell: ShellState, { piped }: { readonly piped?: Piped } = {}): Piped {
  const { findings } = shell
  if (shell.isTooDeep || findings.isFull) {
    findings.addHidden(TOO_DEEP)
    return undefined
  }
  switch (node.type) {
    case "Command":
      return ifRedirected(node.redirects, shell, () => runCommand(node, shell, { piped }))
    case "Pipeline":
      return runPipeline(node, shell)
    case "Redirected":
      for (const redirection of node.redirects) redirect(redirection, shell)
      return ifRedirected(node.redirects, shell, () => run(node.command, shell, { piped }))
    default:
      runCompound(node, shell)
      return undefined
  }
}

/** Where a redirection fails, the command does not run, and the line goes on. */
function ifRedirected(redirections: readonly Redirection[], shell: ShellState, runIt: () => Piped): Piped {
  if (!redirections.some(mayFail)) return runIt()
  const without = shell.subshell()
  const piped = runIt()
  shell.keepAgreed(without)
  return piped
}

function runPipeline({ commands }: Node<"Pipeline">, shell: ShellState): Piped {
  const [first, ...rest] = commands
  if (!first) return undefined // `!` alone
  if (rest.length === 0) {
    run(first, shell)
    return undefined
  }
  let piped = run(first, shell.subshell())
  for (const part of rest) piped = run(part, shell.subshell(), { piped: piped ?? {} })
  return piped
}

function runCompound(node: SyntaxNode, shell: ShellState): void {
  const { findings } = shell
  switch (node.type) {
    case "AndOr":
      runAndOr(node, shell)
      break
    case "Subshell":
      runStatements(node.body.commands, shell.subshell().deeper())
      break
    case "BraceGroup": {
      const group = shell.deeper()
      runStatements(node.body.commands, group)
      shell.follow(group)
      break
    }
    case "If":
      for (const { clause, then } of [node, ...node.elif]) {
        runBranch(clause.commands, shell)
        runBranch(then.commands, shell)
      }
      if (node.else) runBranch(node.else.commands, shell)
      break
    case "While":
      runRound(node, shell, (copy) => {
        runStatements(node.clause.commands, copy)
        runStatements(node.body.commands, copy)
      })
      break
    case "For":
      runFor(node, shell)
      break
    case "Select":
      for (const word of node.wordlist ?? []) runCompared(word, shell) // the menu shows them
      shell.checkSet(node.name.value)
      runRound(node, shell, (copy) => runStatements(node.body.commands, copy))
      break
    case "ArithmeticFor":
      runArithmetic(node, shell)
      runRound(node, shell, (copy) => runStatements(node.body.commands, copy))
      break
    case "Case":
      runCompared(node.word, shell)
      for (const { pattern, body } of node.items) {
        for (const word of pattern) runCompared(word, shell)
        runBranch(body.commands, shell)
      }
      break
    case "Function":
      run(node.body, shell.forFunction())
      shell.functions.add(node.name.value)
      break
    case "CompoundList":
      runStatements(node.commands, shell.deeper())
      break
    case "Coproc":
      findings.changesNothing = false
      shell.mark("background", node)
      run(node.body, shell.subshell().deeper())
      break
    case "TestCommand":
      runCondition(node.expression, shell)
      break
    case "ArithmeticCommand":
      runArithmetic(node, shell)
      break
    default:
      findings.addHidden(`It has a part that is not understood: ${node.type}.`)
  }
}

const runBranch = (statements: readonly Statement[], shell: ShellState): void =>
  shell.branch((copy) => runStatements(statements, copy))

/** Any part may fail. What follows `||` then starts with what held there, and is skipped if none failed. */
function runAndOr({ commands: [first, ...rest], operators }: Node<"AndOr">, shell: ShellState): void {
  if (first) run(first, shell)
  const ends = [shell.subshell()]
  shell.branch((copy) => {
    for (const [at, part] of rest.entries()) {
      const before = copy.subshell()
      const isAlternative = operators[at] === "||"
      if (isAlternative) for (const end of ends) copy.keepAgreed(end)
      run(part, copy)
      if (isAlternative) copy.keepAgreed(before)
      ends.push(copy.subshell())
    }
  })
  for (const end of ends) shell.keepAgreed(end)
}

/** A body that runs several times starts with what an earlier round left. */
function runRound(node: SyntaxNode, shell: ShellState, body: (copy: ShellState) => void): void {
  shell.branch((copy) => {
    if (movesDirectory(node)) copy.forgetDirectory()
    body(copy)
  })
}

function runFor(node: Node<"For">, shell: ShellState): void {
  const { wordlist = [], body } = node
  const name = node.name.value
  for (const word of wordlist) runInside(word, shell)
  const fields = wordlist.flatMap((word) => expandWord(word, shell.surroundings))
  shell.checkSet(name)
  const setInside = countAssignments(body)
  const isKnown =
    node.wordlist !== undefined && fields.length <= MOST_ROUNDS && !setInside.has(name) && !setInside.has("*")
  const values = fields.map(
    ({ text, isPrintable = false }): Variable => ({ text, isPrintable: text !== undefined || isPrintable }),
  )
  const unknown: Variable = { text: undefined, isPrintable: values.every(({ isPrintable }) => isPrintable) }
  for (const [round, value] of (isKnown ? values : [unknown]).entries()) {
    runRound(node, shell, (copy) => {
      if (round > 0) copy.stopMarking()
      copy.variables.set(name, value)
      runStatements(body.commands, copy)
    })
  }
  shell.variables.set(name, unknown)
}

/** Conditions and arithmetic of the shell's own: `[[ … ]]` and `(( … ))`. */
const NUMERIC = /^-(?:eq|ne|lt|le|gt|ge)$/

function runCondition(node: SyntaxNode, shell: ShellState): void {
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
function runArithmetic(node: SyntaxNode, shell: ShellState): void {
  shell.findings.addHidden(CALCULATES)
  forEachChild(node, (child) => {
    if (child.type !== "CompoundList") runInside(child, shell.deeper())
  })
}
