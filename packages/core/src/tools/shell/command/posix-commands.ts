/** Commands that shells have built in, in the forms that all of them read alike. Other names are programs, and the same for every shell. */

export interface PosixWord {
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
export const isOwnName = (name: string): boolean => OWN_NAME.test(name)

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

export function isReadAlike([name, ...args]: readonly PosixWord[]): boolean {
  if (!name || !PROGRAM.test(name.text) || BUILT_IN.has(name.text)) return false
  return Object.hasOwn(CHECKS, name.text) ? CHECKS[name.text]!(args) : true
}
