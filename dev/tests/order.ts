/** The order of test files: the slowest first, so that none of them runs alone at the end. */
import { BaseSequencer, type TestSpecification } from "vitest/node"

/**
 * Slow test files. vitest sorts a first run by file size, which does not help here: these files start processes, try many random cases or
 * read recordings.
 */
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
