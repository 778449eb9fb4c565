/**
 * Scripts for a shell that is not bash. The parser reads bash, and `sh` is dash, busybox, ksh or zsh elsewhere: they read `[[`, `$'…'`,
 * `&>` and much more otherwise. This reads the text itself and lets through only what all of them read alike: plain words, quotes,
 * variables, pipes, lists, `if`, `for`, `while`, groups and simple redirections.
 */
import { Cursor } from "./cursor.ts"

/** Commands that shells have built in, in the forms that all of them read alike. Other names are programs, and the same for every shell. */

interface PosixWord {
  /** As written. */
  readonly text: string
  /** Without its quotes. `undefined`: a part is only known when it runs. */
  readonly literal: string | undefined
  /** It is matched with names of files. */
  readonly hasPattern: boolean
}

type Check = (args: readonly PosixWord[]) => boolean

const none: Check = (args) => args.length === 0
const any: Check = () => true
const plainNames: Check = (args) =>
  args.length > 0 && args.every(({ literal }) => /^[\w./+-]+$/.test(literal ?? "") && !literal!.startsWith("-"))
/** zsh, ksh and mksh calculate with the operand, which may run a command. */
const number: Check = (args) => args.length === 0 || (args.length === 1 && /^\d+$/.test(args[0]!.text))

const UNARY = /^-[defhLnrswxz]$/
const NUMERIC = /^-(?:eq|ne|lt|le|gt|ge)$/
const isNumber = (word: PosixWord | undefined): boolean => /^(?:-?\d+|"?\$[#?]"?)$/.test(word?.text ?? "")

/** `[ -f x ]`, `[ a = b ]`, each also with `!`. More words are read by rules that differ, and mksh calculates with what it compares. */
const test: Check = (args) => {
  const [first, second, third, ...more] = args[0]?.text === "!" ? args.slice(1) : args
  if (more.length > 0 || !first) return false
  if (third) {
    if (NUMERIC.test(second!.text)) return isNumber(first) && isNumber(third)
    return second!.text === "=" || second!.text === "!="
  }
  return second ? UNARY.test(first.text) : true
}

const CHECKS: Readonly<Record<string, Check>> = {
  ":": any,
  "[": (args) => args.at(-1)?.text === "]" && test(args.slice(0, -1)),
  break: number,
  cd: (args) => args.length === 0 || (args.length === 1 && !/^[-+]|^$/.test(args[0]!.literal ?? "-")),
  command: ([option, ...names]) => option?.text === "-v" && names.length === 1 && plainNames(names),
  continue: number,
  echo: (args) => args.every(({ text }) => !text.includes("\\")), // dash and zsh read escapes in it
  exit: number,
  false: any,
  // zsh and ksh calculate with what they print as a number
  printf: ([format]) => /^(?:[^%\\-]|%%|%s|\\[nt])(?:[^%\\]|%%|%s|\\[nt])*$/.test(format?.literal ?? ""),
  pwd: none,
  read: ([first, ...names]) =>
    [...(first?.text === "-r" ? [] : first ? [first] : []), ...names].every(({ text }) => isOwnName(text)),
  return: number,
  set: (args) => args.length > 0 && args.every(({ text }) => /^-[eu]+$/.test(text)),
  sleep: (args) => args.length === 1 && /^\d+(?:\.\d+)?$/.test(args[0]!.text),
  test,
  times: none,
  true: any,
  type: plainNames,
  wait: none,
  which: plainNames,
}

/** zsh ties `path`, `prompt`, `status` and others to what it obeys. */
const OWN_NAME = /^(?:[a-z]|file|dir|name|line|item|word|pkg)$/
const isOwnName = (name: string): boolean => OWN_NAME.test(name)

/** What one shell or another has built in or knows as a word of its grammar: bash, dash, busybox, zsh, ksh93, mksh, yash. */
const BUILT_IN = new Set(
  `. - alias always array autoload bg bind bindkey builtin bye caller case chdir compadd comparguments compcall compctl compdescribe compfiles
  compgen compgroups complete compopt compound compquote compset comptags comptry compvalues coproc declare dirs disable disown echotc echoti
  emulate enable end enum esac eval exec export fc fg float for foreach function functions getln getopts hash help hist history if in integer
  jobs kill let limit local log login logout mapfile nameref namespace nocorrect noglob nohup popd print private pushd pushln r readarray
  readonly redirect rehash rename repeat run-help sched select setopt shift shopt source stop suspend then time trap ttyctl typeset ulimit
  umask unalias unfunction unhash unlimit unset unsetopt until vared whence where which-command while zcompile zformat zle zmodload zparseopts
  zregexparse zstyle`.split(/\s+/),
)
const PROGRAM = /^(?:[A-Za-z_./][\w.+/-]*|\[|:)$/

function isReadAlike([name, ...args]: readonly PosixWord[]): boolean {
  if (!name || !PROGRAM.test(name.text) || BUILT_IN.has(name.text)) return false
  return Object.hasOwn(CHECKS, name.text) ? CHECKS[name.text]!(args) : true
}

const PLAIN = /[\w./,:@%+-]+/y
const SINGLE_QUOTED = /'[\t\n -&(-~]*'/y
const ESCAPED = /\\[!-~ ]/y
const IN_DOUBLE_QUOTES = /(?:[\t\n !#%-[\]-_a-~]|\\[!-~ ]|\$(?="))+/y
const HOME = /~(?=[/ \t\n;|)]|$)/y
const WORD_ENDS = String.raw`(?=[ \t\n;|)]|$)`
/** zsh reads more after a name: `$x[1]`, `$x:h`. After a sign nothing follows. */
const VARIABLE = /\$(?:[A-Za-z_]\w*|\{[A-Za-z_]\w*\})(?=[ \t\n;|)"/.,-]|$)|\$[?#$@*\d](?=[ \t\n;|)"/]|$)/y
/** Without quotes zsh does not split them. */
const ALL_ARGUMENTS = /\$[@*]/y
/** Words that only mean what they say if nothing is joined to them. */
const WHOLE_WORD = new RegExp(String.raw`(?:\{\}|\[|\]|!=|=|!)${WORD_ENDS}`, "y")
const COPY = new RegExp(`[12]?>&[12]${WORD_ENDS}`, "y")
const REDIRECTION = /[0-2]?(?:>>?|<)[ \t]*(?=["'./~A-Za-z_$])/y
const SEPARATOR = /;(?!;)|\n|&&|\|\||\|(?!&)/y

/** Keywords: the one that must be open before it, and the one that must come after it. */
const KEYWORDS: ReadonlyMap<string, { readonly after?: string; readonly wants?: string }> = new Map([
  ["!", {}],
  ["{", { wants: "}" }],
  ["}", { after: "}" }],
  ["do", { after: "do", wants: "done" }],
  ["done", { after: "done" }],
  ["elif", { after: "fi", wants: "then" }],
  ["else", { after: "fi", wants: "fi" }],
  ["fi", { after: "fi" }],
  ["for", { wants: "do" }],
  ["if", { wants: "then" }],
  ["then", { after: "then", wants: "fi" }],
  ["until", { wants: "do" }],
  ["while", { wants: "do" }],
])
const KEYWORD = new RegExp(`(?:[!{}]|do|elif|else|if|then|until|while|done|fi|for)${WORD_ENDS}`, "y")
const FOR = /[ \t]+([A-Za-z_]\w*)[ \t]+in(?=[ \t])/y

export const isInPosixCore = (script: string): boolean => {
  const cursor = new Cursor(script)
  return takeList(cursor) && cursor.isAtEnd
}

/** What comes next: a command must, it may, or the one before must end first. */
type Expected = "command" | "command or end" | "end"

/** Commands up to a closing parenthesis or the end. */
function takeList(cursor: Cursor): boolean {
  const wanted: string[] = []
  let expected: Expected = "command"
  for (;;) {
    cursor.take(/[ \t]+/y)
    if (cursor.isAtEnd || cursor.look(/\)/y) !== undefined) return expected !== "command" && wanted.length === 0
    const separator = cursor.take(SEPARATOR)
    if (separator === "\n") {
      if (expected === "end") expected = "command or end"
    } else if (separator !== undefined) {
      if (expected !== "end") return false
      expected = separator === ";" ? "command or end" : "command"
    } else if (expected === "end") {
      if (!takeRedirection(cursor)) return false
    } else {
      const next = takeCommand(cursor, wanted)
      if (next === undefined) return false
      expected = next
    }
  }
}

/** A keyword, a group or a simple command. `undefined`: not all shells read it alike. */
function takeCommand(cursor: Cursor, wanted: string[]): Expected | undefined {
  if (cursor.take(/\((?!\()/y) !== undefined) return takeGroup(cursor) ? "end" : undefined
  const keyword = cursor.take(KEYWORD)
  if (keyword === undefined) return takeSimple(cursor) ? "end" : undefined
  if (keyword === "!" && cursor.look(/[ \t]*!/y) !== undefined) return undefined
  const { after, wants } = KEYWORDS.get(keyword)!
  if (after !== undefined && wanted.pop() !== after) return undefined
  if (wants !== undefined) wanted.push(wants)
  if (keyword === "for") return takeForWords(cursor) ? "end" : undefined
  return after !== undefined && wants === undefined ? "end" : "command"
}

/** After the opening parenthesis. */
const takeGroup = (cursor: Cursor): boolean => takeList(cursor) && cursor.take(/\)/y) !== undefined

function takeForWords(cursor: Cursor): boolean {
  const name = /\w+/.exec(cursor.take(FOR) ?? "")?.[0]
  return name !== undefined && isOwnName(name) && takeWords(cursor) !== undefined
}

function takeSimple(cursor: Cursor): boolean {
  const words = takeWords(cursor)
  return words !== undefined && isReadAlike(words)
}

/** Words and redirections up to a separator. After a redirection, shells differ on whether a keyword may follow, so a word comes first. */
function takeWords(cursor: Cursor): readonly PosixWord[] | undefined {
  const words: PosixWord[] = []
  for (;;) {
    cursor.take(/[ \t]+/y)
    if (cursor.isAtEnd || cursor.look(/[;\n|&)]/y) !== undefined) return words
    if (words.length > 0 && takeRedirection(cursor)) continue
    const word = takeWord(cursor)
    if (!word) return undefined
    words.push(word)
  }
}

/** Only to a file or to the other output. A pattern in it is matched by some shells. */
function takeRedirection(cursor: Cursor): boolean {
  if (cursor.take(COPY) !== undefined) return true
  const start = cursor.at
  if (cursor.take(REDIRECTION) !== undefined) {
    const target = takeWord(cursor)
    if (target && !target.hasPattern) return true
  }
  cursor.at = start
  return false
}

function takeWord(cursor: Cursor): PosixWord | undefined {
  const start = cursor.at
  const whole = cursor.take(WHOLE_WORD)
  if (whole !== undefined) return { text: whole, literal: whole, hasPattern: false }
  let literal: string | undefined = cursor.take(HOME) ?? ""
  let hasPattern = false
  while (!/[ \t\n;|)]/.test(cursor.text[cursor.at] ?? " ")) {
    const plain = cursor.take(PLAIN) ?? (cursor.at > start ? cursor.take(/=/y) : undefined)
    const quoted = plain === undefined ? (cursor.take(SINGLE_QUOTED)?.slice(1, -1) ?? cursor.take(ESCAPED)?.[1]) : plain
    if (quoted !== undefined) literal = literal === undefined ? undefined : literal + quoted
    else if (cursor.take(/[*?](?!\*)/y) !== undefined) hasPattern = true
    else if (cursor.look(ALL_ARGUMENTS) === undefined && takeExpansion(cursor)) literal = undefined
    else if (cursor.take(/"/y) !== undefined) {
      const inside = takeDoubleQuoted(cursor)
      if (inside === undefined) return undefined
      literal = literal === undefined || inside.literal === undefined ? undefined : literal + inside.literal
    } else return undefined
  }
  if (cursor.at === start) return undefined
  return { text: cursor.text.slice(start, cursor.at), literal: hasPattern ? undefined : literal, hasPattern }
}

/** A variable, or a command in `$(…)`. */
function takeExpansion(cursor: Cursor): boolean {
  if (cursor.take(VARIABLE) !== undefined) return true
  return cursor.take(/\$\((?!\()/y) !== undefined && takeGroup(cursor)
}

/** After the opening quote. */
function takeDoubleQuoted(cursor: Cursor): { readonly literal: string | undefined } | undefined {
  let literal: string | undefined = ""
  for (;;) {
    if (cursor.take(/"/y) !== undefined) return { literal }
    const text = cursor.take(IN_DOUBLE_QUOTES)
    if (text !== undefined) literal = literal === undefined ? undefined : literal + text.replace(/\\([$`"\\])/g, "$1")
    else if (takeExpansion(cursor)) literal = undefined
    else return undefined
  }
}
