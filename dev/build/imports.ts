/**
 * Finds the imports of compiled files, and corrects declarations that the compiler leaves as they are: `.ts` paths and types that may be
 * missing.
 */

/** Matches static and lazy imports, re-exports, and types by `import("…")`. Comments are skipped because they contain examples. */
const IMPORT = /(?<=(?<![".])\b(?:from|import)\s*\(?\s*")[@\w.][\w@.:/#-]*(?=")/g // a quoted "from" is a key of some JSON, Buffer.from is a call, and a text may end with from
const COMMENT_LINE = /^\s*(?:\/\*|\*|\/\/).*$/gm

export const withoutComments = (code: string): string => code.replace(COMMENT_LINE, "")

export function importsOf(code: string): readonly string[] {
  return withoutComments(code).match(IMPORT) ?? []
}

/** Replaces `.ts` paths, because tools other than this compiler look for `.js` and find the declaration next to it. */
export function withCompiledPaths(declaration: string): string {
  return declaration.replace(IMPORT, (path) => (path.startsWith(".") ? path.replace(/\.tsx?$/, ".js") : path))
}

/** Replaces the types of optional packages by `any` if they are not installed, to avoid errors in a file that the user cannot change. */
export function withOptionalTypes(declaration: string, optional: ReadonlySet<string>): string {
  return declaration.replace(/^import type .* from "(.+)";$/gm, (line, specifier: string) =>
    optional.has(packageNameOf(specifier)) ? `// @ts-ignore: ${specifier} may not be installed\n${line}` : line,
  )
}

/** The package name in `@scope/name/deep/path` or `name/deep`. */
export function packageNameOf(specifier: string): string {
  return specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/")
}
