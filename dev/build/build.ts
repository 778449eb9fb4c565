/**
 * Builds the packages to install, each complete in `build/<folder>/`. The workspace itself needs no build.
 *
 *     npm run build               writes them
 *     npm run build -- --check    then tries them in a separate directory, as a user would
 */
import { checkPackages } from "./check.ts"
import { manifestFiles, publishedPackages, readManifest, versionProblems } from "./packages.ts"
import { writePackages } from "./write-packages.ts"

const unknown = process.argv.slice(2).filter((word) => word !== "--check")
if (unknown.length > 0) {
  console.error(`There is no option ${unknown.join(", ")}. The only one is --check.`)
  process.exit(2)
}
const problems = versionProblems(manifestFiles().map(readManifest))
if (problems.length > 0) {
  console.error(`${problems.join("\n")}\n"npm run set-version -- <version>" sets the version of all packages.`)
  process.exit(1)
}
const built = await writePackages(publishedPackages())
for (const { folder, manifest } of built) console.log(`build/${folder}: ${manifest.name} ${manifest.version}`)
if (process.argv.includes("--check") && !(await checkPackages(built))) process.exit(1)
