/** Checks that the pictures show the program as it is now, and that every page can show them. */
import { globSync, readdirSync, readFileSync, statSync } from "node:fs"
import { basename, join } from "node:path"
import { describe, expect, test } from "vitest"
import { needs } from "../../packages/core/test/needs.ts"
import { hashSources, PICTURE_NAMES, PICTURES, ROOT, recordedHashes, SHOWN } from "./made-from.ts"

const MAX_BYTES = 150 * 1024
const PAGES = ["README.md", "docs/*.md"]
const ABSOLUTE_PATH = /(?:^|[\s("'`:])\/[\w.-]+\/[\w.-]+/m

const FILES = PICTURE_NAMES.flatMap((name) => SHOWN[name].files as readonly string[])

describe("the pictures", () => {
  for (const name of PICTURE_NAMES)
    test(`${name} is not older than what it shows`, name === "usage" ? needs("transcripts") : {}, () => {
      const how = `${SHOWN[name].files.join(", ")}: \`npm run picture -- ${name}\` makes it`
      expect(recordedHashes()[name], how).toBe(hashSources(name))
    })

  test("all of them are there and small, and pages show these only", () => {
    const pictures = readdirSync(PICTURES).filter((file) => !file.endsWith(".json"))
    expect(pictures.toSorted()).toEqual(FILES.toSorted())
    for (const file of FILES) expect(statSync(join(PICTURES, file)).size, file).toBeLessThanOrEqual(MAX_BYTES)
    const texts = globSync(PAGES, { cwd: ROOT }).map((page) => readFileSync(join(ROOT, page), "utf8"))
    const shown = texts.flatMap((text) => text.match(/(?<=["(])[\w./]*pictures\/[\w.-]+(?=[")])/g) ?? [])
    expect([...new Set(shown.map((path) => basename(path)))].toSorted()).toEqual(FILES.toSorted())
  })

  test("the demo is well-formed, without scripts, loads nothing, and shows no path of a machine", () => {
    const svg = readFileSync(join(PICTURES, "demo.svg"), "utf8")
    expect(unclosedTags(svg)).toEqual([])
    expect(svg).not.toMatch(/<script|<foreignObject|javascript:|\son\w+=|href="[^#]|url\(|@import/i)
    expect(svg.replace(/<style>.*?<\/style>|<[^>]*>/gs, "\n")).not.toMatch(ABSOLUTE_PATH)
    expect(svg).toContain("prefers-reduced-motion")
  })
})

/** Tags without their counterpart. */
function unclosedTags(xml: string): readonly string[] {
  const open: string[] = []
  for (const [, end, name, isEmpty] of xml.matchAll(/<(\/?)([\w:-]+)(?:\s+[\w:-]+="[^"<]*")*(\/?)>/g)) {
    if (end === "") open.push(...(isEmpty === "" ? [name!] : []))
    else if (open.at(-1) === name) open.pop()
    else open.push(`/${name}`)
  }
  const rest = xml.replace(/<\/?[\w:-]+(?:\s+[\w:-]+="[^"<]*")*\/?>/g, "")
  return rest.includes("<") || /&(?!#\d+;)/.test(rest) ? [...open, "text with a markup sign"] : open
}
