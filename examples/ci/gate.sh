#!/usr/bin/env bash
# Measures a study with the systems `base` and `candidate`, and ends as its gate does: 0 no regression, 1 a regression,
# 7 undecided. Anything else means that nothing was measured. It leaves in FOLDER: junit.xml, gate.md, bencher.json, and
# the study with its guide.
#
#   examples/ci/gate.sh STUDY_FILE FOLDER
#
# LIMIT   by how much the candidate may be slower; 5% by default
# COMMIT  of which version the candidate is; kept in each recording
set -euo pipefail
study=${1:?the study file} folder=${2:?the folder for its results}

plimsoll study plan "$study" --to "$folder"
ran=0
plimsoll study run "$study" --to "$folder" --quiet ${COMMIT:+--label "commit=$COMMIT"} || ran=$?
[[ $ran == 0 || $ran == 4 ]] || exit "$ran" # 4: a trial failed; the gate judges the others, and says so

gate=0
plimsoll compare "$folder:base" "$folder:candidate" --fail-if "slower:${LIMIT:-5%}" --junit "$folder/junit.xml" \
  --markdown > "$folder/gate.md" || gate=$?
cat "$folder/gate.md"
if [[ -n ${GITHUB_STEP_SUMMARY:-} ]]; then cat "$folder/gate.md" >> "$GITHUB_STEP_SUMMARY"; fi
plimsoll export bencher "$folder" --to "$folder/bencher.json"
exit "$gate"
