/** Texts for fitting token weights: files of some folders, and generated texts of kinds that files lack. */
import { readdirSync, readFileSync, statSync } from "node:fs"
import { extname, join } from "node:path"

export interface CorpusText {
  readonly source: string
  readonly text: string
}

const TEXT_CHARACTERS = 24_000
const SOURCE_CHARACTERS = 6_000_000 // maximum of each kind of file
const SHORTEST_TEXT = 200
const MAX_LINE = 5_000 // longer lines are minified code, which models are not sent
const OTHER_SCRIPTS = /[\u0370-\u1dff\u3040-\ud7af]/

export function corpusFrom(paths: readonly string[]): CorpusText[] {
  const taken = new Map<string, number>()
  const texts: CorpusText[] = []
  for (const path of shuffled(paths.flatMap(filesUnder))) {
    for (const { source, text: whole } of textsOf(path)) {
      const text = whole.slice(0, TEXT_CHARACTERS)
      const characters = taken.get(source) ?? 0
      if (text.length < SHORTEST_TEXT || characters > SOURCE_CHARACTERS) continue
      taken.set(source, characters + text.length)
      texts.push({ source, text })
    }
  }
  return texts
}

function filesUnder(path: string): string[] {
  if (!statSync(path).isDirectory()) return [path]
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
}

function textsOf(path: string): CorpusText[] {
  switch (extname(path)) {
    case ".jsonl":
      return stringsIn(path).map((text) => ({ source: "recordings", text }))
    case ".html":
      return [{ source: "html, other scripts", text: linesInOtherScripts(readFileSync(path, "utf8")) }]
    case ".ts":
    case ".js":
    case ".json":
    case ".md":
    case ".txt":
    case ".utf-8": {
      const text = readFileSync(path, "utf8")
      const isReadable = !text.includes("\ufffd") && text.split("\n").every((line) => line.length < MAX_LINE)
      return isReadable ? [{ source: extname(path), text }] : []
    }
    default:
      return []
  }
}

/** Lists every long string in a recording of any format: messages, tool inputs and results. */
function stringsIn(path: string): string[] {
  const found = new Set<string>()
  const collect = (value: unknown, key: string): void => {
    if (typeof value === "string") {
      if (key !== "signature" && key !== "data" && key !== "encrypted_content") found.add(value)
    } else if (typeof value === "object" && value !== null) {
      if (key === "input" || key === "arguments") found.add(JSON.stringify(value))
      for (const [name, item] of Object.entries(value)) collect(item, name)
    }
  }
  for (const line of readFileSync(path, "utf8").split("\n")) if (line.trim() !== "") collect(JSON.parse(line), "")
  return [...found].filter((text) => text.length >= SHORTEST_TEXT)
}

function linesInOtherScripts(html: string): string {
  const text = html.replace(/<(script|style).*?<\/\1>|<[^>]+>/gs, "")
  return text
    .split("\n")
    .filter((line) => OTHER_SCRIPTS.test(line))
    .join("\n")
}

/** Generates hashes, base64, identifiers, numbers, file lists, logs and runs of one character, identically in every run. */
export function inventedTexts(): CorpusText[] {
  const random = randomNumbers(7)
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)]!
  const below = (limit: number) => Math.floor(random() * limit)
  const run = (alphabet: string, length: number) => Array.from({ length }, () => pick([...alphabet])).join("")
  const lines = (count: number, line: () => string) => Array.from({ length: count }, line).join("\n")

  const hex = "0123456789abcdef"
  const base64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
  const words = ["worker", "cache", "index", "session", "build", "main", "store", "README", "test", "view", "http"]
  const time = () => `${10 + below(14)}:${10 + below(50)}`
  const kinds: Record<string, () => string> = {
    hashes: () => lines(50, () => run(hex, pick([32, 40, 64]))),
    uuids: () => lines(50, () => [8, 4, 4, 4, 12].map((length) => run(hex, length)).join("-")),
    base64: () => (random() < 0.5 ? run(base64, 3_000) : lines(40, () => run(base64, 76))),
    numbers: () =>
      lines(50, () => Array.from({ length: 6 }, () => (random() * 10 ** below(6)).toFixed(below(5))).join(",")),
    "ls -l": () =>
      lines(40, () => {
        const size = String(below(10 ** (2 + below(5)))).padStart(8)
        const date = `${pick(["Jan", "Mar", "Nov"])} ${10 + below(19)} ${time()}`
        return `${pick(["-rw-r--r--", "drwxr-xr-x", "-rwxr-xr-x"])}  1 root root ${size} ${date} ${pick(words)}-${pick(words)}.ts`
      }),
    paths: () => lines(40, () => `./packages/${pick(words)}/src/${pick(words)}/${pick(words)}-${pick(words)}.test.ts`),
    runs: () => pick([..." \n\t=-_*#.x─"]).repeat(500 + below(1_500)),
    logs: () =>
      lines(40, () => {
        const when = `2026-0${1 + below(9)}-${10 + below(19)}T${time()}:${10 + below(50)}.${100 + below(900)}Z`
        const what = `[${pick(words)}-${below(40)}] ${pick(["request finished", "retrying after", "cache miss for key"])}`
        return `${when} ${pick(["INFO", "WARN", "ERROR"])} ${what} id=${below(10 ** 7)} took ${below(9_999)}ms`
      }),
  }
  return Object.entries(kinds).flatMap(([source, text]) => Array.from({ length: 60 }, () => ({ source, text: text() })))
}

function shuffled(paths: readonly string[]): string[] {
  const random = randomNumbers(1)
  return paths
    .map((path) => ({ path, at: random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ path }) => path)
}

/** The mulberry32 generator, which yields the same numbers in every run. */
function randomNumbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
