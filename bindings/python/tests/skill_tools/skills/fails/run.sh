echo "before"
echo "no" >&2
exit 3
