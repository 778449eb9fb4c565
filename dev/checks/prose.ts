/**
 * Checks the language of documentation, screens, prompts and comments. No sentence of a page has more than 30 words, and no word of `GONE`
 * and `DIALECT` occurs.
 */
import { globSync, readFileSync } from "node:fs"
import { ALLOWED, DIALECT, GONE, type Phrase, WATCHED } from "./prose/plain-words.ts"
import { sentencesOf } from "./prose/sentences.ts"
import { isTestFile, sourceParts } from "./source-parts.ts"

const MAX_SENTENCE_WORDS = 30

export type Area = "docs" | "screens" | "prompts" | "comments" | "titles"
export const AREAS: readonly Area[] = ["docs", "screens", "prompts", "comments", "titles"]

/** A text to be searched, with its position. */
export interface Text {
  readonly area: Area
  readonly file: string
  readonly line: number
  readonly text: string
}

export interface PhraseMatch extends Text {
  readonly phrase: Phrase
}

export function findPhrases(texts: readonly Text[], phrases: readonly Phrase[]): readonly PhraseMatch[] {
  return texts.flatMap((place) =>
    phrases.flatMap((phrase) => {
      const uses = [...withoutAllowed(place).matchAll(phrase.pattern)]
      return uses.map(() => ({ ...place, phrase }))
    }),
  )
}

const withoutAllowed = ({ file, text }: Text): string =>
  ALLOWED.filter((allowed) => file.startsWith(allowed.in)).reduce(
    (rest, allowed) => rest.replaceAll(allowed.text, ""),
    text,
  )

export const textsOfPage = (file: string, markdown: string): readonly Text[] =>
  sentencesOf(markdown).map(({ text, line }) => ({ area: "docs", file, line, text }))

export const textsOfPrompt = (file: string, markdown: string): readonly Text[] =>
  markdown.split("\n").map((text, index) => ({ area: "prompts", file, line: index + 1, text }))

/** Comments, and string literals that are sentences or labels, which contain a space. */
export function textsOfSource(file: string, source: string): readonly Text[] {
  return sourceParts(source).flatMap(({ kind, text, line }): Text[] => {
    if (kind === "comment") return [{ area: "comments", file, line, text }]
    if (kind === "string") return /\p{L} | \p{L}/u.test(text) ? [{ area: "screens", file, line, text }] : []
    return file.endsWith(".tsx")
      ? elementTexts(text).map((words) => ({ area: "screens", file, line, text: words }))
      : []
  })
}

const TITLE = /\b(?:test|it|describe)(?:\.[a-zA-Z]+)*(?:\((?:[^()"]|\([^()]*\))*\))?\(\s*"((?:[^"\\\n]|\\.)*)"/g

/** Titles of tests. */
export const titlesOf = (file: string, source: string): readonly Text[] =>
  [...source.matchAll(TITLE)].map(({ 1: text = "", index }) => ({
    area: "titles",
    file,
    line: source.slice(0, index).split("\n").length,
    text,
  }))

/** The text between the tags of an element. */
const elementTexts = (code: string): readonly string[] =>
  [...code.matchAll(/>([^<>{}();=]*\p{L}[^<>{}();=]*)</gu)].map(([, text]) => text!)

export interface LongSentence {
  readonly file: string
  readonly line: number
  readonly words: number
  readonly text: string
}

export const longSentences = (file: string, markdown: string): readonly LongSentence[] =>
  sentencesOf(markdown)
    .filter(({ words }) => words > MAX_SENTENCE_WORDS)
    .map((sentence) => ({ file, ...sentence }))

/** A line for each phrase, a column for each area. */
export function countTable(findings: readonly PhraseMatch[], phrases: readonly Phrase[]): string {
  const rows = phrases.map(({ name }) => [
    name,
    ...AREAS.map((area) =>
      String(findings.filter((found) => found.area === area && found.phrase.name === name).length),
    ),
  ])
  const [first, ...rest] = ["", ...AREAS]
  return [[first!, ...rest], ...rows]
    .map(([name, ...counts]) => name!.padEnd(12) + counts.map((count) => count.padStart(10)).join(""))
    .join("\n")
}

if (import.meta.main) {
  const read = (file: string) => readFileSync(file, "utf8")
  const pages = globSync(["*.md", "docs/**/*.md", "packages/*/*.md", "packages/*/examples/*.md"]).toSorted()
  const prompts = globSync("packages/*/src/**/*.md").toSorted()
  const code = globSync(["packages/*/{src,test,examples}/**/*.{ts,tsx}", "dev/**/*.ts"]).toSorted()
  const isShown = (file: string) => (file.includes("/src/") || file.startsWith("dev/lab/")) && !isTestFile(file)
  const texts = [
    ...pages.flatMap((file) => textsOfPage(file, read(file))),
    ...prompts.flatMap((file) => textsOfPrompt(file, read(file))),
    // the texts in tests are samples, so only their comments count
    ...code.flatMap((file) =>
      textsOfSource(file, read(file)).filter(({ area }) => area === "comments" || isShown(file)),
    ),
    ...code.filter(isTestFile).flatMap((file) => titlesOf(file, read(file))),
  ]
  const written = texts.filter(({ area }) => area === "docs" || area === "comments")
  const titles = texts.filter(({ area }) => area === "titles")
  const wrong = [
    ...findPhrases(texts, GONE),
    ...findPhrases(written, DIALECT),
    // a title may use the verb
    ...findPhrases(
      titles,
      DIALECT.filter(({ name }) => name !== "marks"),
    ),
  ]
  const findings = [...wrong, ...findPhrases(texts, WATCHED)]
  const long = pages.flatMap((file) => longSentences(file, read(file)))
  const quiet = process.argv.includes("--counts")
  if (!quiet) {
    for (const { file, line, phrase, text } of wrong)
      console.error(`${file}:${line}: "${phrase.name}" (say: ${phrase.instead}): ${text.trim().slice(0, 120)}`)
    for (const { file, line, words, text } of long)
      console.error(`${file}:${line}: ${words} words: ${text.slice(0, 120)}`)
  }
  console.log(countTable(findings, [...GONE, ...DIALECT, ...WATCHED]))
  console.log(`sentences over ${MAX_SENTENCE_WORDS} words in ${pages.length} pages: ${long.length}`)
  console.log(`prose: ${wrong.length + long.length} problems`)
  process.exitCode = wrong.length + long.length > 0 ? 1 : 0
}
