/** Commands that start another command: `timeout 5 rm x`, `sudo rm x`, `bash -c 'rm x'`. What they start is judged as a command of its own. */
import type { Field } from "./fields.ts"
import { type Grammar, grammarOf } from "./grammar.ts"
import { type GivenOption, type OptionTable, takeApart } from "./options.ts"
import type { ScriptInWord } from "./outcome.ts"

export type Wrapped =
  | {
      readonly state: "command"
      readonly words: readonly Field[]
      /** It adds nothing that rules or a person must know. */
      readonly isTransparent: boolean
      /** Words from standard input or elsewhere follow. */
      readonly isOpen?: boolean
      readonly options: readonly GivenOption[]
    }
  | {
      readonly state: "script"
      readonly script: ScriptInWord
      readonly isTransparent: boolean
      /** Its options may change how it reads the script. */
      readonly hasOddOptions?: boolean
    }
  /** A shell that runs what it gets on standard input. */
  | { readonly state: "input"; readonly grammar: Grammar }
  /** No command in it. */
  | { readonly state: "none" }
  | { readonly state: "not understood" }

interface Wrapper extends OptionTable {
  readonly isTransparent?: boolean
  /** Words before the command: the duration of `timeout`. */
  readonly skips?: number
  /** Options that make it print instead: `command -v`. */
  readonly prints?: readonly string[]
}

const WRAPPERS: Readonly<Record<string, Wrapper>> = {
  builtin: { isTransparent: true },
  busybox: {},
  caffeinate: { short: "disum t: w:", isTransparent: true },
  chroot: { long: "groups: userspec: skip-chdir", skips: 1 },
  chrt: { short: "abfior p:", skips: 1 },
  command: { short: "pvV", isTransparent: true, prints: ["v", "V"] },
  doas: { short: "nsL u: C: a:" },
  exec: { short: "cl a:", isTransparent: true },
  flock: { short: "seunox w: E:", long: "shared exclusive nonblock timeout: close", skips: 1 },
  ionice: { short: "t c: n:", isTransparent: true },
  ltrace: { short: "cCfhiLrStTV a: A: D: e: F: l: n: o> p: s: u: w: x:" },
  nice: { short: "n:", long: "adjustment:", numbers: true, isTransparent: true },
  nohup: {},
  setsid: { short: "cfw", long: "ctty fork wait" },
  stdbuf: { short: "i: o: e:", long: "input: output: error:", isTransparent: true },
  strace: { short: "cCdfFhiqrtTvVxyDkYz a: b: e: E: I: o> O: p: P: s: S: u: X: U:" },
  sudo: {
    short: "ABbEeHknPSsVvKi C: D: g: h: p: R: r: t: T: U: u:",
    long: "askpass background preserve-env? set-home non-interactive stdin login shell user: group: host: prompt: chdir: chroot:",
  },
  time: { short: "pvql f:", long: "portability verbose quiet format:", isTransparent: true },
  timeout: {
    short: "vfp k: s:",
    long: "kill-after: signal: preserve-status foreground verbose",
    skips: 1,
    isTransparent: true,
  },
  toybox: {},
  unbuffer: { short: "p", isTransparent: true },
  unshare: { short: "muinpUrfc", long: "mount uts ipc net pid user map-root-user fork" },
  valgrind: { long: "leak-check: track-origins: error-exitcode: quiet" },
  watch: { short: "bcdegtx n:", long: "beep color differences? errexit chgexit interval: no-title exec precise" },
}

/** What may start any of its words, in ways that are not taken apart. */
const RUNNERS = new Set(
  `parallel entr hyperfine perf gdb script expect runuser su setpriv systemd-run taskset numactl prlimit setarch faketime
  rlwrap direnv dotenv dotenvx cross-env npx bunx uvx pipx npm pnpm yarn bun uv poetry pipenv bundle docker podman kubectl ssh torsocks
  proxychains xvfb-run firejail chronic ts git make env-cmd nix nix-shell mise asdf conda corepack trap`.split(/\s+/),
)

export const isRunner = (name: string): boolean => RUNNERS.has(name)

export function unwrap(name: string, args: readonly Field[]): Wrapped {
  // in another shell than bash, `eval` is not certain by itself
  if (name === "eval") return { state: "script", script: { text: joined(args), grammar: "bash" }, isTransparent: true }
  if (name === "xargs") return xargs(args)
  const grammar = grammarOf(name)
  if (grammar) return shell(args, grammar)
  if (name === "su" || name === "script" || name === "runuser") return byOption(args)
  if (!Object.hasOwn(WRAPPERS, name)) return { state: "none" }
  const wrapper = WRAPPERS[name]!
  const taken = takeApart({ ...wrapper, stops: true }, args)
  if (taken.state === "not understood") return { state: "not understood" }
  const { options, operands } = taken
  if (options.some((option) => wrapper.prints?.includes(option.name))) return { state: "none" }
  const words = operands.slice(wrapper.skips ?? 0)
  if (words.length === 0) return name === "exec" || name === "builtin" ? { state: "none" } : { state: "not understood" }
  if (name === "watch" && !options.some((option) => option.name === "x" || option.name === "exec"))
    return { state: "script", script: { text: joined(words), grammar: "posix" }, isTransparent: true }
  if (name === "flock" && SCRIPT_FOLLOWS.has(words[0]?.text ?? "")) return byOption(words)
  return { state: "command", words, isTransparent: wrapper.isTransparent ?? false, options }
}

const joined = (words: readonly Field[]): string | undefined =>
  words.every(({ text }) => text !== undefined) ? words.map(({ text }) => text).join(" ") : undefined

const SCRIPT_FOLLOWS = new Set(["-c", "--command"])

/** A script for the login shell, which may be any. */
function byOption(args: readonly Field[]): Wrapped {
  const at = args.findIndex(({ text }) => SCRIPT_FOLLOWS.has(text ?? ""))
  if (at < 0) return { state: "none" }
  return { state: "script", script: { text: args[at + 1]?.text, grammar: "other" }, isTransparent: false }
}

/** Letters that change nothing about how the script is read, and show nothing. */
const PLAIN_LETTERS: Readonly<Record<Grammar, RegExp>> = {
  bash: /^-[ceul]+$/,
  posix: /^-[ceu]+$/,
  other: /^-c$/,
}
const PLAIN_NAMES = new Set(["errexit", "nounset", "pipefail"])

/** `bash -c script`, `bash file` or `bash` with a script on standard input. */
function shell(args: readonly Field[], given: Grammar): Wrapped {
  const rest = [...args]
  let grammar = given
  let isScript = false
  let hasOddOptions = false
  for (let word = rest[0]; word; word = rest[0]) {
    const { text } = word
    if (text === undefined)
      return { state: "script", script: { text: undefined, grammar }, isTransparent: false, hasOddOptions: true }
    if (!/^[-+]/.test(text)) break
    rest.shift()
    if (text === "--version" || text === "--help") return { state: "none" }
    if (text === "-" || text === "--") {
      if (grammar !== "bash") hasOddOptions = true
      break
    }
    if (text === "--posix") grammar = "posix"
    else if (text.startsWith("--")) hasOddOptions ||= grammar !== "bash" || !/^--(?:noprofile|norc|login)$/.test(text)
    else {
      if (text.startsWith("-") && text.includes("c")) isScript = true
      const named = /o$/i.test(text) ? rest.shift()?.text : undefined
      const letters = named !== undefined && PLAIN_NAMES.has(named) ? text.replace(/o$/, "") : text
      hasOddOptions ||= letters !== "-" && !PLAIN_LETTERS[grammar].test(letters)
    }
  }
  if (isScript) return { state: "script", script: { text: rest[0]?.text, grammar }, isTransparent: true, hasOddOptions }
  if (rest.length === 0 || rest[0]?.text === "/dev/stdin") return { state: "input", grammar }
  return hasOddOptions ? { state: "not understood" } : { state: "none" }
}

const XARGS: OptionTable = {
  short: "0rtpx d: E: I: L: n: P: s: i? l? e?",
  long: `null delimiter: eof? replace? max-lines? max-args: max-procs: interactive no-run-if-empty max-chars: verbose exit show-limits`,
  stops: true,
}

const ADDING = new Set("I i replace L l max-lines n max-args".split(" "))

function xargs(args: readonly Field[]): Wrapped {
  const taken = takeApart(XARGS, args)
  if (taken.state === "not understood") return { state: "not understood" }
  const { options, operands } = taken
  // of several options that say how words are added, the last one counts
  if (options.filter(({ name }) => ADDING.has(name)).length > 1) return { state: "not understood" }
  const words = operands.length === 0 ? [{ text: "echo" }] : operands
  return { state: "command", words, isTransparent: true, isOpen: true, options }
}
