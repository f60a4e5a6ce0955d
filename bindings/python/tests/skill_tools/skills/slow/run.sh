echo "begun"
sleep 100
