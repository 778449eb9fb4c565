import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { SAMPLE_TEXTS } from "../../test/sample-texts.ts"
import { CONTENT_CLASSES, type ContentClass, forEachSegment } from "./content-class.ts"

interface Segment {
  readonly contentClass: ContentClass
  readonly characters: number
}

function segmentsOf(text: string): Segment[] {
  const segments: Segment[] = []
  forEachSegment(text, (contentClass, visits) => {
    segments.push({ contentClass, characters: visits.reduce((sum, count) => sum + count, 0) })
  })
  return segments
}

function mainClass(text: string): ContentClass {
  const characters = (name: ContentClass) =>
    segmentsOf(text).reduce((sum, segment) => sum + (segment.contentClass === name ? segment.characters : 0), 0)
  return CONTENT_CLASSES.reduce((max, name) => (characters(name) > characters(max) ? name : max))
}

describe("content classes", () => {
  test.each(CONTENT_CLASSES)("a text of class %s is mostly of that class", (name) => {
    expect(mainClass(SAMPLE_TEXTS[name])).toBe(name)
  })

  test.each([
    ["base64", "TWFuIGlzIGRpc3Rpbmd1aXNoZWQsIG5vdCBvbmx5IGJ5IGhpcyByZWFzb24sIGJ1dCBieSB0aGlz", "dense"],
    ["Japanese", "フェリーは六時過ぎに港を出た。カモメが残り物を争っていた。", "script"],
    ["Russian", "Паром отошёл от пристани чуть позже шести.", "script"],
    ["a path", "./packages/core/src/tokens/content-class.test.ts", "listing"],
    ["a log line", "2026-11-15T02:14:54.120Z INFO [http-12] request finished id=88213 took 41ms", "listing"],
    ["an empty line", "\n", "prose"],
  ])("%s", (_, text, expected) => {
    expect(mainClass(text)).toBe(expected)
  })

  test("every character is visited once, whatever the text is, and no segment is longer than 256", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 2_000 }), (text) => {
        const segments = segmentsOf(text)
        expect(segments.reduce((sum, { characters }) => sum + characters, 0)).toBe(text.length)
        expect(segments.every(({ characters }) => characters > 0 && characters <= 256)).toBe(true)
      }),
    )
  })

  test.each([" ", "a", "A1", "=", "中", "\t", "é"])("200,000 times %j takes as many steps as characters", (unit) => {
    const text = unit.repeat(200_000 / unit.length)
    const segments = segmentsOf(text)
    expect(segments).toHaveLength(Math.ceil(text.length / 256))
    expect(segments.reduce((sum, { characters }) => sum + characters, 0)).toBe(text.length)
  })
})
