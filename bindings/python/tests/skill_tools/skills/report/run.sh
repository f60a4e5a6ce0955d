echo "got $INPUT_JSON"
echo x > "$SKILL_PATH/written" || echo "cannot write" >&2
