import { expect, test } from "vitest"
import { type Enclosure, mountsOf } from "./enclosure.ts"
import { profileOf } from "./sandbox.ts"

const enclosure: Enclosure = {
  directory: "/tmp/home/project",
  hidden: ["/tmp", "/tmp/home/.ssh", "/tmp/home/project/.strata"].map((path) => ({ path, isDirectory: true })),
  visible: ["/usr/bin", "/tmp/home/project", "/tmp/home/project/.strata/results"],
  writable: [],
  hasNetwork: false,
  scratch: '/tmp/scratch "1"',
}

test("PERM-8 the place nearest to a file decides about it, and what is needed for nothing is left out", () => {
  expect(mountsOf(enclosure).map(({ how, path }) => `${how} ${path}`)).toEqual([
    "hide /tmp",
    "show /tmp/home/project",
    "hide /tmp/home/project/.strata",
    "show /tmp/home/project/.strata/results",
  ])
})

test("PERM-8 in the profile for macOS the later rule counts, and paths are quoted", () => {
  const lines = profileOf(enclosure).split("\n")
  const at = (text: string) => lines.findIndex((line) => line.includes(text))
  expect(at("(deny file-write*)")).toBeLessThan(at('(deny file-read* file-write* (subpath "/tmp"))'))
  expect(at('(subpath "/tmp"))')).toBeLessThan(at('(allow file-read* (subpath "/tmp/home/project"))'))
  expect(lines).toContain("(deny network*)")
  expect(lines).toContain('(allow file-read* file-write* (subpath "/tmp/scratch \\"1\\""))')
})
