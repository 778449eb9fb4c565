/** A simple command with its assignments and redirections, and the commands that it starts in turn. */
import type { Command } from "unbash"
import { expandToOne, expandWord, type Field, known } from "./fields.ts"
import { TOO_DEEP } from "./findings.ts"
import { runInside } from "./inside-words.ts"
import { judgeInvocation } from "./invocation.ts"
import type { PrintedPaths } from "./judged.ts"
import type { Invocation, ScriptInWord } from "./outcome.ts"
import { parseScript } from "./parse-script.ts"
import { inputAmong, redirect } from "./redirections.ts"
import type { ShellState } from "./shell-state.ts"
import { type Assigned, isHarmlessAssignment, isHarmlessPrefix } from "./variables.ts"

/** What a command gets from the pipe before it. */
export type Piped = { readonly paths?: PrintedPaths | undefined } | undefined

export function runCommand(node: Command, shell: ShellState, { piped }: { readonly piped: Piped }): Piped {
  const assigned = assignmentsOf(node, shell)
  for (const redirection of node.redirects) redirect(redirection, shell)
  if (!node.name) {
    assign(assigned, shell)
    return undefined
  }
  const words = [node.name, ...node.args]
  for (const word of words) runInside(word, shell)
  const call: Call = {
    fields: words.flatMap((word) => fieldsOf(word, shell)),
    changesEnvironment: !assigned.every(isHarmlessPrefix),
    input: inputAmong(node.redirects, shell.surroundings),
    isFed: node.redirects.some(({ operator }) => operator === "<" || operator === "<>"),
    isStarted: false,
  }
  return invoke(call, shell, { piped })
}

interface PrintableAssigned extends Assigned {
  readonly isPrintable: boolean
  /** Not `x+=1`, `x[1]=1` or `x=(1 2)`. */
  readonly isPlain: boolean
}

function assignmentsOf({ prefix }: Command, shell: ShellState): readonly PrintableAssigned[] {
  return prefix.flatMap((part) => {
    if (part.type !== "Assignment") return []
    const { name, value, index, append } = part
    runInside(part, shell)
    if (index && !/^\d+$/.test(index.value)) shell.findings.addHidden(`It evaluates ${name}[…].`)
    if (value.type !== "Word") return [{ name, value: undefined, isPrintable: false, isPlain: false }]
    const { text, isPrintable = false } = expandToOne(value, shell.surroundings)
    return [{ name, value: text, isPrintable, isPlain: !append && !index }]
  })
}

/** Assignments without a command stay in the shell. A value is known only if the line sets the variable once. */
function assign(assigned: readonly PrintableAssigned[], { line, variables, findings }: ShellState): void {
  for (const { name, value, isPrintable, isPlain } of assigned) {
    const isKnown = isPlain && line.assignments.get(name) === 1 && !line.assignments.has("*")
    variables.set(name, { text: isKnown ? value : undefined, isPrintable: value !== undefined || isPrintable })
  }
  if (!assigned.every((variable) => isHarmlessAssignment(variable, line.around.env))) findings.addObeyedVariable()
}

function fieldsOf(word: Command["args"][number], shell: ShellState): readonly Field[] {
  if (word.type === "Word") return expandWord(word, shell.surroundings)
  const value = word.value.type === "Word" ? expandToOne(word.value, shell.surroundings) : { text: undefined }
  return [value.text === undefined ? value : known(`${word.name}=${value.text}`)]
}

type Call = Omit<Invocation, "place" | "isFunction" | "isPiped">

/** What another command starts is never a function: it is another process, or `command`, which passes functions by. */
interface Invoking {
  readonly piped: Piped
  readonly isInner?: boolean
}

function invoke(call: Call, shell: ShellState, { piped, isInner = false }: Invoking): Piped {
  const { line, findings } = shell
  if (call.fields.length === 0) return undefined
  if (shell.isTooDeep) {
    findings.addHidden(TOO_DEEP)
    return undefined
  }
  const outcome = judgeInvocation({
    ...call,
    place: shell.place(piped?.paths),
    isFunction: !isInner && shell.functions.has(call.fields[0]!.text ?? ""),
    isPiped: piped !== undefined,
  })
  for (const why of outcome.unknown) findings.addUnknown(why)
  for (const command of outcome.commands) findings.addCommand(command)
  if (outcome.makesLinks) line.mayMakeLinks = true
  for (const name of outcome.sets) shell.variables.set(name, { text: undefined, isPrintable: true })
  if (outcome.directory) shell.moveTo(outcome.directory.path, outcome.directory)
  for (const script of outcome.scripts) runText(script, shell)
  for (const inner of outcome.inner) {
    const within = inner.directory ? shell.deeperIn(inner.directory.path) : shell.deeper()
    const changesEnvironment = call.changesEnvironment || inner.changesEnvironment
    const isStarted = !inner.isSameShell
    invoke({ ...call, fields: inner.fields, changesEnvironment, isStarted }, within, { piped, isInner: true })
    if (inner.isSameShell) shell.follow(within)
  }
  return { paths: outcome.prints }
}

function runText({ text, grammar }: ScriptInWord, shell: ShellState): void {
  const { line, findings } = shell
  if (text === undefined) findings.addHidden("It runs a script that is only known when it runs.")
  else if (shell.isTooDeep) findings.addHidden(TOO_DEEP)
  else {
    const script = parseScript(text, { findings, grammar })
    if (script) line.runScript(script, shell.forScript())
  }
}
