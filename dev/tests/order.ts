/** The order of the test files: first those that run longest, so that none of them is alone at the end. */
import { BaseSequencer, type TestSpecification } from "vitest/node"

/** The size of a file, by which vitest goes in a first run, says nothing about these. They start processes, try many random cases or read recordings. */
const LONG = [
  "dev/docs/code-blocks.run",
  "packages/cli/test/",
  "packages/core/test/",
  "packages/core/src/journal/file/",
  "packages/core/src/agent/tools/mcp/",
  "packages/transcripts/src/replay/",
  "packages/transcripts/src/import/",
  "dev/lab/",
]

const rankOf = ({ moduleId }: TestSpecification): number => {
  const rank = LONG.findIndex((part) => moduleId.includes(part))
  return rank < 0 ? LONG.length : rank
}

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return (await super.sort(files)).toSorted((a, b) => rankOf(a) - rankOf(b))
  }
}
