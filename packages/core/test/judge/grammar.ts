/**
 * Generates command lines. Programs and options come from the command analyzer, so most lines are close to what it allows; the syntax
 * around and inside them is where a parser goes wrong.
 */

import { disguise, double, file, mutate, mutateBytes, operand, quote, single, value } from "./arguments.ts"
import { pieces } from "./fragments.ts"
import type { KnownProgram, KnownPrograms } from "./known-options.ts"
import type { Random } from "./random.ts"
import { awkProgram, jqFilter, sedScript } from "./scripts.ts"
import { PAYLOADS, trick } from "./tricks.ts"
import type { World } from "./world.ts"

export interface Vocabulary extends KnownPrograms {
  readonly repositories: readonly string[]
  readonly byName: ReadonlyMap<string, readonly KnownProgram[]>
}

export function vocabularyOf({ repositories }: World, known: KnownPrograms): Vocabulary {
  const byName = Map.groupBy(known.readers, ({ words }) => words[0]!)
  return { ...known, repositories, byName }
}

/** Programs with a script argument in a language of its own, which require permission. */
const CODE = new Set(
  "awk gawk mawk jq sed node python python3 ruby perl npm bash docker cmake go cargo rustc java date unzip tar".split(
    " ",
  ),
)
const NEAR_FILES = [
  "a",
  "src/a.ts",
  "src/b.ts",
  "docs/x.md",
  "table.csv",
  "data.json",
  "src",
  ".",
  "sub/conf",
  "'a b'",
  "names",
]
const HARMLESS = ["2>/dev/null", "> /dev/null", "2>&1", "< a", "< src/a.ts", ">/dev/null 2>&1"]
const DIRECTORIES = ["dash", "src", "docs", "sub", "..", "link", "src/..", "missing", "."]
/** Patterns that match several files, names that look like options, or files elsewhere. */
const PATTERNS = [
  "src/*.ts",
  "dash/*",
  "*",
  "?",
  "./*",
  "src/*",
  "*.ts",
  "docs/*",
  "link/*",
  "*/*",
  "-*",
  "a*",
  "../*",
  "../outside/*",
  "sub/*",
  ".*",
  "s*/a*",
]

const SHELLS = pieces("shells")
const SHELL_FLAGS = pieces("shell flags")
/** Programs that are generated more often, because their effect depends on many other things. */
const RICH = pieces("rich programs")

export function generateLine(random: Random, vocabulary: Vocabulary): string {
  const generator = new Generator(random, vocabulary)
  const kind = random.below(20)
  if (kind < 8) return generator.smallLine()
  if (kind < 14) return mutateBytes(generator.smallLine(), random)
  if (kind < 15) return mutate(generator.compound(1), random)
  if (kind < 16) return mutate(trick(random), random)
  if (kind < 17) return trick(random)
  return generator.compound(kind < 18 ? 0 : 2)
}

class Generator {
  readonly #random: Random
  readonly #vocabulary: Vocabulary

  constructor(random: Random, vocabulary: Vocabulary) {
    this.#random = random
    this.#vocabulary = vocabulary
  }

  /** A line in the small language, or nearly: several commands, file patterns that match several files, redirections, `cd`. */
  smallLine(): string {
    const random = this.#random
    const command = () => {
      const moved = random.chance(0.1) ? `cd ${random.pick(DIRECTORIES)}${random.pick([" && ", "; ", " || "])}` : ""
      const patterns = random.chance(0.3) ? [random.pick(PATTERNS)] : []
      const redirected = random.chance(0.2) ? [random.chance(0.8) ? random.pick(HARMLESS) : this.#redirection()] : []
      return `${moved}${[this.#plain(), ...patterns, ...redirected].join(" ")}`
    }
    const more = random.chance(0.6) ? 0 : 1 + random.below(2)
    const parts = [command(), ...Array.from({ length: more }, command)]
    return parts.reduce((line, part) => `${line}${random.pick([" | ", " && ", "; ", " || ", "\n", " \\\n| "])}${part}`)
  }

  /** `wish`: how much syntax to add around commands. */
  compound(wish: number): string {
    const random = this.#random
    if (wish <= 0 || random.chance(0.2)) return random.chance(0.1) ? trick(random) : this.#simple()
    const inner = () => this.compound(wish - 1)
    return random.pick<() => string>([
      () => this.#wrapped(inner()),
      () => this.#wrapped(inner()),
      () => this.#inShell(inner()),
      () => this.#inShell(inner()),
      () => this.#inShell(random.chance(0.5) ? trick(random) : inner()),
      () => `${inner()} | ${inner()}`,
      () => `${inner()}${random.pick(["; ", " && ", " || ", "\n", " | ", " & "])}${inner()}`,
      () => `${inner()} ${this.#redirection()}`,
      () => this.#substituted(inner()),
      () => this.#controlled(inner()),
      () => this.#inDirectory(inner()),
      () => this.#throughFind(inner()),
      () => this.#withInput(inner()),
      () => this.#shadowed(random.chance(0.5) ? this.#wrapped(random.pick(PAYLOADS)) : random.pick(PAYLOADS)),
      () =>
        `${random.pick(["x=1", "x=$(pwd)", "x=a; y=$x", "LC_ALL=C", "X=1", "x=()", "IFS=,", "TZ=UTC", "GIT_PAGER=cat"])}${random.pick([" ", "; "])}${inner()}`,
    ])()
  }

  #simple(): string {
    const random = this.#random
    const { readers, byName } = this.#vocabulary
    const named = random.chance(0.45) ? byName.get(random.pick(RICH)) : undefined
    const program = random.pick(named ?? readers)
    const name = program.words[0]!
    if (name === "npm" && !random.chance(0.15)) return this.#simple() // it takes a while to start
    const words = [
      ...(name === "git" ? this.#git(program.words) : program.words),
      ...this.#options(program.options, 3),
      ...this.#operands(name),
    ]
    return words.map((word) => disguise(word, random)).join(random.chance(0.97) ? " " : "  ")
  }

  /** A program that may run without permission, with options and files of the project. */
  #plain(): string {
    const random = this.#random
    const { readers, byName } = this.#vocabulary
    const named = random.chance(0.3)
      ? byName.get(random.pick(["git", "find", "grep", "rg", "ls", "sort", "uniq"]))
      : undefined
    const { words, options } = random.pick(named ?? readers)
    const [name] = words as [string]
    if (CODE.has(name)) return this.#plain()
    const files = Array.from({ length: random.below(3) }, () => random.pick(NEAR_FILES))
    const given = name === "grep" || name === "rg" ? [random.pick(["text", "'a b'", "-e x"]), ...files] : files
    const shown = name === "find" ? ["src", random.pick(["-name '*.ts'", "-type f", "-print"])] : given
    const place = name === "git" ? this.#git(words) : words
    const more = random.chance(0.1) ? [operand(random)] : []
    return [...place, ...this.#options(options, 2), ...shown, ...more].map((word) => disguise(word, random)).join(" ")
  }

  /** Repeats options, because programs use the first one, the last one, or both. */
  #options(known: KnownProgram["options"], max: number): readonly string[] {
    const chosen = this.#random.some(known, max)
    const twice = this.#random.chance(0.15) ? chosen.slice(0, 1) : []
    return [...chosen, ...twice].map((option) => this.#option(option.text, option.takesValue))
  }

  #option(text: string, takesValue: boolean): string {
    const random = this.#random
    if (!takesValue || random.chance(0.15)) return text
    const given = random.chance(0.75) ? value(random) : operand(random)
    const joint = text.startsWith("--") ? random.pick(["=", "=", " "]) : random.pick([" ", ""])
    return `${text}${joint}${given}`
  }

  #operands(name: string): readonly string[] {
    const random = this.#random
    const files = Array.from({ length: random.below(3) }, () => file(random))
    if (name === "sed") return [quote(sedScript(random), random), ...files]
    if (/awk/.test(name)) return [quote(awkProgram(random), random), ...files]
    if (name === "jq") return [quote(jqFilter(random), random), ...(random.chance(0.7) ? ["data.json"] : files)]
    if (name === "grep" || name === "rg" || name === "egrep") return [value(random), ...files]
    if (name === "[") return [operand(random), random.pick(["=", "-eq", "==", ">", "\\>", "-nt"]), operand(random), "]"]
    if (name === "find")
      return [
        random.pick(["-name '*'", "-print", "-type f", "-exec ls {} +", "-exec cat {} \\;", "-exec uniq {} +", ""]),
      ]
    return Array.from({ length: random.below(4) }, () => operand(random))
  }

  #git(words: readonly string[]): readonly string[] {
    const random = this.#random
    const before = random.some(
      ["--no-pager", "-c color.ui=always", "-c core.quotepath=off", "-P", `-c core.fsmonitor=${value(random)}`],
      1,
    )
    const place = random.chance(0.5) ? [`-C ${random.pick(this.#vocabulary.repositories)}`] : []
    return ["git", ...place, ...before, ...words.slice(1)]
  }

  #wrapped(command: string): string {
    const random = this.#random
    const { words, options } = random.pick(this.#vocabulary.wrappers)
    const [name] = words
    const given = this.#options(options, 2)
    const duration = name === "timeout" ? [random.pick(["5", "1", "0.5", "5s"])] : name === "flock" ? ["a"] : []
    const plain = [name, ...given, ...duration, command].join(" ")
    if (name === "xargs")
      return `${random.pick(["echo a", "find src", "find src -print0", "git ls-files", "cat names", "echo ./evil.sh", "ls", "grep -rl text src"])} | ${plain}`
    return random.chance(0.8)
      ? plain
      : `env ${random.pick(["", "X=1 ", "-i ", "-u X ", "LC_ALL=C ", "PATH=bin "])}${command}`
  }

  #inShell(script: string): string {
    const random = this.#random
    const rest = random.chance(0.8) ? "" : ` ${random.pick(["x", "./evil.sh", "a b", "$XDG_DATA_HOME", "-"])}`
    const shell = random.pick(SHELLS)
    if (random.chance(0.08)) return `${shell} <<'E'\n${script}\nE`
    if (random.chance(0.04)) return `${shell} <<< ${single(script)}`
    if (random.chance(0.04)) return `eval ${quote(script, random)}`
    return `${shell} ${random.pick(SHELL_FLAGS)} ${quote(script, random)}${rest}`
  }

  #redirection(): string {
    const random = this.#random
    const target = random.pick([
      "/dev/null",
      "/dev/null",
      "/dev/stderr",
      "&1",
      "&2",
      "written",
      "~/.bashrc",
      "../outside/f",
      "$x",
      "&-",
      "/dev/fd/2",
      "a",
    ])
    return random.pick([
      `>${target}`,
      `2>${target}`,
      `> ${target}`,
      `2>&1`,
      `< ${file(random)}`,
      `<${file(random)}`,
      `&>${target}`,
      `>&${target.replace("&", "")}`,
      `>>${target}`,
      `<>${target}`,
      `>|${target}`,
      `2>/dev/null`,
      `3<${file(random)}`,
      `<<< ${operand(random)}`,
    ])
  }

  #substituted(inner: string): string {
    const random = this.#random
    return random.pick([
      `echo $(${inner})`,
      `echo "$(${inner})"`,
      `echo \`${inner.replace(/[`\\$]/g, "\\$&")}\``,
      `cat <(${inner})`,
      `x=$(${inner}); echo "$x"`,
      `x=$(${inner}); ls $x`,
      `wc -l < <(${inner})`,
      `test -n "$(${inner})"`,
      `ls $(${inner})`,
      `echo \${x:-$(${inner})}`,
      `cat <<E\n$(${inner})\nE`,
      `cat <<'E'\n$(${inner})\nE`,
      `echo ${double(`$(${inner})`)}`,
    ])
  }

  #controlled(inner: string): string {
    const random = this.#random
    return random.pick([
      `if ${inner}; then echo yes; fi`,
      `if test -f a; then ${inner}; else ${inner}; fi`,
      `for x in a b; do ${inner}; done`,
      `for x in ${operand(random)} ${operand(random)}; do cat "$x"; ${inner}; done`,
      `while read -r x; do ${inner}; break; done < a`,
      `case a in a) ${inner};; esac`,
      `{ ${inner}; }`,
      `(${inner})`,
      `! ${inner}`,
      `time ${inner}`,
      `f() { ${inner}; }; f`,
      `[ -f a ] && ${inner}`,
      `[[ -f a ]] && ${inner}`,
      `set -e; ${inner}`,
      `true || ${inner}`,
      `${inner} # ${inner}`,
      `until true; do ${inner}; done`,
    ])
  }

  /** A command after a function of the same name, which may or may not be the one that runs. */
  #shadowed(command: string): string {
    const random = this.#random
    const name = random.pick(command.split(" "))
    const defined = `${name}() { :; }`
    const before = random.pick([
      defined,
      defined,
      `(${defined})`,
      `false && ${defined}`,
      `${defined} | cat`,
      `{ ${defined}; }`,
      `if [ -f x ]; then ${defined}; fi`,
    ])
    return `${before}${random.pick(["; ", "\n", " && "])}${command}`
  }

  #inDirectory(inner: string): string {
    const random = this.#random
    const directory = random.pick([
      "src",
      "docs",
      "npm",
      "npm2",
      "rust",
      "link",
      "..",
      "docs/up",
      "sub",
      "-",
      "",
      ...this.#vocabulary.repositories,
    ])
    return random.pick([
      `cd ${directory} && ${inner}`,
      `cd ${directory}; ${inner}`,
      `(cd ${directory} && ${inner}); ls`,
      `env -C ${directory} ${inner}`,
      `cd ${directory}\n${inner}`,
    ])
  }

  #throughFind(inner: string): string {
    const random = this.#random
    const root = random.pick(["a", "src", ".", "docs", "link", "src/a.ts"])
    return random.pick([
      `find ${root} -maxdepth 1 -exec ${inner} {} \\;`,
      `find ${root} -maxdepth 1 -exec ${inner} {} +`,
      `find ${root} -name 'a*' -exec sh -c ${quote(inner, random)} x {} \\;`,
      `find ${root} | xargs ${inner}`,
      `find ${root} -print0 | xargs -0 ${inner}`,
      `find ${root} | xargs -I{} ${inner} {}`,
      `find ${root} -execdir ${inner} \\;`,
    ])
  }

  #withInput(inner: string): string {
    const random = this.#random
    return random.pick([
      `cat ${file(random)} | ${inner}`,
      `${inner} < ${file(random)}`,
      `${inner} <<< ${operand(random)}`,
      `${inner} <<E\ntext $x\nE`,
      `echo ${operand(random)} | ${inner}`,
      `printf '%s\\n' ${operand(random)} | ${inner}`,
    ])
  }
}
